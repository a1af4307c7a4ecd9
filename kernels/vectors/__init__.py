"""Exact conformance vectors of the delta-rule family: words with answers in exact bits, and tests of functions by them.

    _exact        formats, and numbers that they hold
    _word         a word: inputs of a function, its calls, its answer
    _recurrence   the operators in exact arithmetic; known errors as other rules
    _orders       the orders of evaluation that count as correct, and what they compute on the way
    _families     the families of words (`_words_…`), each there for an error that it alone sees
    _check        a function held to the words: a verdict for each family, with the likely cause (`_causes`, `_diagnosis`)
    _report       verdicts, and what they say together
    _results      the form of what a function returned, and arguments that it must not change
    _child        a test in a process of its own
    _file         the words as a `.safetensors` file (`_file_checks`: its digest, and what its metadata must say)
    _runners      public implementations with the signature that is tested

Nothing here loads torch before a function of torch is tested.
"""
