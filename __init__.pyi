from .constructions._construct import construct as construct
from .constructions._document import write_certificate as write_certificate
from .constructions._inspection import inspect_automaton as inspect_automaton
from .constructions._lrnn import LRNN as LRNN
from .constructions._spec import automaton_from_spec as automaton_from_spec
from .constructions.automata._automaton import Automaton as Automaton
from .foundation._errors import DisagreementError as DisagreementError
from .foundation._errors import InputError as InputError
from .foundation._errors import LimitError as LimitError
from .foundation._errors import MirrormataError as MirrormataError
from .foundation._errors import MirrormataWarning as MirrormataWarning
from .foundation._errors import MissingExtraError as MissingExtraError
from .foundation._errors import NotRealisableError as NotRealisableError
from .models._sources import prove as prove
from .models.comparison._compare import compare as compare
from .models.training._train import train as train
from .theory._check import check as check
from .theory._horizon import full_certificate as full_certificate
from .theory._plot import plot as plot
from .theory.planning._plan import plan as plan
from .theory.running._run import run as run
from .theory.running._words import random_words as random_words

__all__: list[str]
__version__: str
