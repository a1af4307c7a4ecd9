# What SgpDec makes of the semigroup that the maps in PEERS_MAPS (image lists, points 1, ..., n) generate: `peers_semigroups.py`
# writes them, and PEERS_LAST, the last part that is wanted, and reads this file. Prints a JSON line for each part that is done; times are processor seconds, to a millisecond,
# of the first call and, on average, of further ones that take a fifth of a second together.

SetPrintFormattingStatus("*stdout*", false);

PeersLoaded := LoadPackage("sgpdec", false) = true;

PeersClock := function()
  local t;
  t := Runtimes();
  return t.user_time + t.system_time;
end;

PeersTime := function(call)
  local begun, found, first, calls, taken;
  begun := PeersClock();
  found := call();
  first := PeersClock() - begun;
  calls := 1;
  taken := first;
  if first < 5000 then
    calls := 0;
    begun := PeersClock();
    repeat
      call();
      calls := calls + 1;
      taken := PeersClock() - begun;
    until calls >= 100 or taken >= 200;
  fi;
  return rec(found := found, text := Concatenation("{\"first\": ", String(first), ", \"again\": ",
    String(QuoInt(taken * 1000, calls)), "}"));  # milliseconds, microseconds
end;

PeersSemigroup := function()
  return Semigroup(List(PEERS_MAPS, Transformation));
end;

PeersSkeleton := function()
  local sk;
  sk := Skeleton(PeersSemigroup());
  return rec(depth := DepthOfSkeleton(sk), tiles := List(TileCoords(sk), level -> List(level, Size)),
    orders := List(GroupComponents(sk), level -> List(level, Order)), sets := Size(ExtendedImageSet(sk)));
end;

PeersMain := function()
  local made, s, name, sep;
  if not PeersLoaded then
    Print("{\"part\": \"missing\", \"because\": \"GAP has no package SgpDec\"}\n");
    return;
  fi;
  Print("{\"part\": \"versions\", \"GAP\": \"", GAPInfo.Version, "\"");
  for name in ["sgpdec", "semigroups", "orb", "datastructures", "digraphs", "gapdoc", "io"] do
    if IsBound(GAPInfo.PackagesLoaded.(name)) then
      Print(", \"", name, "\": \"", GAPInfo.PackagesLoaded.(name)[2], "\"");
    fi;
  od;
  Print("}\n");
  made := PeersTime(PeersSkeleton);
  s := made.found;
  Print("{\"part\": \"skeleton\", \"times\": ", made.text, ", \"depth\": ", s.depth, ", \"sets\": ", s.sets,
    ", \"tiles\": ", s.tiles, ", \"orders\": ", s.orders, "}\n");
  if PEERS_LAST = "skeleton" then
    return;
  fi;
  made := PeersTime(function() return HolonomyCascadeSemigroup(PeersSemigroup()); end);
  Print("{\"part\": \"cascade\", \"times\": ", made.text, ", \"levels\": ",
    Length(ComponentDomains(GeneratorsOfSemigroup(made.found)[1])), ", \"sizes\": ",
    List(ComponentDomains(GeneratorsOfSemigroup(made.found)[1]), Size), "}\n");
end;

PeersMain();
QUIT;
