# How fast real ns-2 delivers packets: Sack1 with delayed ACKs, settings as in handoff.tcl.
# usage: ns speed.tcl CASE SIMULATED_SECONDS
#   a  one flow:   source --10 Gbit/s, 0.001 ms-- router --5 Mbit/s, 50 ms, queue 50-- sink
#   b  ten flows, each from a source of its own:  source --10 Gbit/s, 0.001 ms-- router --1 Gbit/s, 10 ms, queue 1667-- sink; 1 ms apart
#   c  one flow over the bench's four hops:  CN --100 Mbit/s, 2 ms-- R --100 Mbit/s, 2 ms-- BS --80 Mbit/s, 10 ms, queue 133-- Wir --500 Mbit/s, 0 ms-- MN
# prints: case delivered wall_seconds packets_per_second
#   delivered: sum over the flows of the cumulative ACK at the sender; wall clock around `$ns run` only
# Packets carry only the headers that these agents use, as ns-2's manual advises for speed. HEADERS=all in the
# environment keeps all that ns-2 knows, its default and what handoff.tcl uses: the same packets, delivered at 0.4 to 0.8
# times the pace.
set case [lindex $argv 0]; set seconds [lindex $argv 1]
if {[llength $argv] != 2 || $case ni {a b c} || ![string is double -strict $seconds] || $seconds <= 0} {
  puts stderr "usage: ns speed.tcl a|b|c SIMULATED_SECONDS"; exit 2
}
if {![info exists env(HEADERS)] || $env(HEADERS) ne "all"} { remove-all-packet-headers; add-packet-header IP TCP Flags }
set ns [new Simulator]
$defaultRNG seed 5

# a link whose queues, toward b and back, hold `there` and `back` packets
proc link {a b rate delay there back} { global ns
  $ns duplex-link $a $b $rate $delay DropTail
  $ns queue-limit $a $b $there; $ns queue-limit $b $a $back }

proc flow {i source destination} { global ns tcp
  set tcp($i) [new Agent/TCP/Sack1]
  $tcp($i) set packetSize_ 1460
  $tcp($i) set window_ 10000
  $tcp($i) set windowInit_ 3
  $tcp($i) set tcpTick_ 0.01
  $tcp($i) set minrto_ 0.2
  $tcp($i) set rtxcur_init_ 3.0
  $tcp($i) set maxburst_ 0
  $tcp($i) set precisionReduce_ false
  set sink [new Agent/TCPSink/Sack1/DelAck]
  $sink set interval_ 0.1
  $sink set RFC2581_immediate_ack_ 1
  $sink set SYN_immediate_ack_ 0
  $ns attach-agent $source $tcp($i); $ns attach-agent $destination $sink; $ns connect $tcp($i) $sink
  set ftp [new Application/FTP]; $ftp attach-agent $tcp($i)
  $ns at [expr {$i*0.001}] "$ftp start" }

if {$case eq "c"} {
  foreach n {cn r bs wir mn} { set $n [$ns node] }
  set queue [expr {max(round(80e6*2*0.010/12000), 5)}]
  link $cn $r 100Mb 2ms 10000 10000
  link $r $bs 100Mb 2ms 10000 10000
  link $bs $wir 80Mb 10ms $queue $queue
  link $wir $mn 500Mb 0ms 100000 100000
  flow 0 $cn $mn
} else {
  set router [$ns node]; set destination [$ns node]
  if {$case eq "a"} { link $router $destination 5Mb 50ms 50 100000; set flows 1 } \
  else { link $router $destination 1000Mb 10ms 1667 100000; set flows 10 }
  for {set i 0} {$i < $flows} {incr i} {
    set source [$ns node]
    link $source $router 10000Mb 0.001ms 100000 100000
    flow $i $source $destination }
}

proc finish {} { global case tcp started
  set wall [expr {([clock microseconds]-$started)/1e6}]
  set delivered 0
  foreach i [array names tcp] { incr delivered [$tcp($i) set ack_] }
  puts [format "%s %d %.3f %.0f" $case $delivered $wall [expr {$delivered/$wall}]]
  exit 0 }
$ns at $seconds finish
set started [clock microseconds]
$ns run
