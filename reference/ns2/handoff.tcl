# ns-2.35 reproduction of the vertical-handoff set-up of Daniel & Kojo (baseline Sack1 only).
#   CN --100Mb/2ms-- R --100Mb/2ms-- BS1 --access1-- Wir1 --fast/0ms-- MN
#                    R --100Mb/2ms-- BS2 --access2-- Wir2 --fast/0ms-- MN
# usage: ns handoff.tcl key=value ...
#   obw/odel nbw/ndel : kbit/s, ms of old and new access link     kind: mbb|bbm    disc: s
#   flows: number of greedy FTP flows                             T: one time, or Tlist: a:b:step
#   out= / ext= : CSV files appended to     verbose=1 : narrate one run   tr=FILE : full packet trace
#   oloss= nloss= : share of packets that the old and the new access link lose, each direction (ErrorModel)
#   olist= nlist= : instead, which packets they lose: for data, then for ACKs, a list of numbers from 0, `0,7,20/3`
#   ored= nred=   : 1: the access link has RED queues, gentle, with ns-2's automatic thresholds, for packets of 1500 bytes
#   nsfork= : path of libnsfork.so (needed with Tlist); default: $NSFORK, else libnsfork.so beside this script
# T = moment the handoff starts. MBB: routes switch at T.  BBM: the old link loses 100 % in both
# directions from T on; routes switch to the new link at T+disc (= handoff completion).
# With Tlist, the process is forked at every T (checkpointing): the child does the handoff, the
# parent waits and continues without one.  Bit-identical to separate runs (checked).
array set P {
  paper 1 obw 6400 odel 9 nbw 200 ndel 300 kind mbb disc 0.5 flows 1
  T 8.2 Tlist "" out "" ext "" verbose 0 tr "" npk 100 limit 400
  delack 1 dainterval 0.1 winit 3 tick 0.01 minrto 0.2 window 10000 syn 1 offset 0.001
  wiredq 10000 sack1 Sack1 mss 1460 qextra 0 qmin 5 bdprt 0 errpos both rerr 0 tmp ns2-scratch
  maxburst 0 ssthresh 0 rfc2581 1 synimm 0 partial 0 rtxinit 3.0 flowstart 0.0 keep 0 seed 5 accackq 0
  wirbw 500Mb wd 2ms limfix 0 prec 0 cost r set "" sinkset "" nsfork ""
  oloss 0.0 nloss 0.0 olist / nlist / ored 0 nred 0
}
foreach a $argv { if {[regexp {^([^=]+)=(.*)$} $a -> k v]} { set P($k) $v } else { error "bad arg $a" } }
file mkdir $P(tmp)
set isChild 0
if {$P(nsfork) eq "" && [info exists env(NSFORK)]} { set P(nsfork) $env(NSFORK) }
if {$P(nsfork) eq ""} { set P(nsfork) [file join [file dirname [file normalize [info script]]] libnsfork.so] }
if {$P(Tlist) ne ""} { load [file normalize $P(nsfork)] Nsfork }

proc bdp {kbps ms} { expr {round($kbps*1000.0*2*$ms/1000.0/(1500*8))} }
proc qlim {kbps ms} { global P; set b [bdp $kbps $ms]; expr {($b>$P(qmin) ? $b : $P(qmin)) + $P(qextra)} }

set ns [new Simulator]
if {$P(seed) ne ""} { $defaultRNG seed $P(seed) }
if {$P(tr) ne ""} { set trf [open $P(tr) w]; $ns trace-all $trf }
$ns rtproto Static
foreach n {cn r bs1 bs2 w1 w2 mn} { set $n [$ns node] }
$ns duplex-link $cn $r 100Mb $P(wd) DropTail
$ns duplex-link $r $bs1 100Mb $P(wd) DropTail
$ns duplex-link $r $bs2 100Mb $P(wd) DropTail
# RED as in Floyd and Jacobson 1993, gentle: the next drop is uniform over the packets since the last one (no wait_)
foreach {v x} {thresh_ 0 maxthresh_ 0 q_weight_ 0.002 mean_pktsize_ 1500 idle_pktsize_ 1500 gentle_ true linterm_ 10
               adaptive_ 0 bytes_ false queue_in_bytes_ false setbit_ false drop_tail_ true wait_ false} {
  Queue/RED set $v $x }
proc discipline {red} { expr {$red ? "RED" : "DropTail"} }
$ns duplex-link $bs1 $w1 $P(obw)Kb $P(odel)ms [discipline $P(ored)]
$ns duplex-link $bs2 $w2 $P(nbw)Kb $P(ndel)ms [discipline $P(nred)]
$ns duplex-link $w1 $mn $P(wirbw) 0ms DropTail
$ns duplex-link $w2 $mn $P(wirbw) 0ms DropTail
foreach {a b} [list $cn $r $r $bs1 $r $bs2] { $ns queue-limit $a $b $P(wiredq); $ns queue-limit $b $a $P(wiredq) }
foreach {a b} [list $w1 $mn $w2 $mn] { $ns queue-limit $a $b 100000; $ns queue-limit $b $a 100000 }
# RED: room for four times the upper threshold
proc redlim {kbps} { set min [expr {$kbps*1000.0/(8*1500)*0.005/2}]; expr {int(12*($min>5 ? $min : 5))} }
set qo [expr {$P(ored) ? [redlim $P(obw)] : [qlim $P(obw) $P(odel)]}]
set qn [expr {$P(nred) ? [redlim $P(nbw)] : [qlim $P(nbw) $P(ndel)]}]
$ns queue-limit $bs1 $w1 $qo; $ns queue-limit $w1 $bs1 [expr {$P(accackq)?$P(accackq):$qo}]
$ns queue-limit $bs2 $w2 $qn; $ns queue-limit $w2 $bs2 [expr {$P(accackq)?$P(accackq):$qn}]
# routes: link 1 preferred
proc prefer {i} { global ns r bs1 bs2 mn w1 w2
  set c1 [expr {$i==1?1:100}]; set c2 [expr {$i==2?1:100}]
  $ns cost $r $bs1 $c1; $ns cost $mn $w1 $c1
  $ns cost $r $bs2 $c2; $ns cost $mn $w2 $c2 }
prefer 1

# drop traces (queues) and error models for BBM
set drch [open $P(tmp)/parent.[pid].tr w]
fconfigure $drch -buffersize 65536
set drtr {}
proc droptrace {a b} { global ns drch drtr
  set t [$ns create-trace Drop $drch $a $b]; lappend drtr $t; return $t }
foreach {a b} [list $bs1 $w1 $w1 $bs1 $bs2 $w2 $w2 $bs2 $cn $r $r $cn $r $bs1 $bs1 $r $r $bs2 $bs2 $r] {
  set t [droptrace $a $b]; [[$ns link $a $b] queue] drop-target $t }
set ems {}
# "both": whatever comes out of the old access link after T is lost (data at Wir1, ACKs at BS1)
if {$P(errpos) eq "entry"} { set emlinks [list $w1 $mn $w1 $bs1] } \
elseif {$P(errpos) eq "mn"} { set emlinks [list $w1 $mn $mn $w1] } else { set emlinks [list $w1 $mn $bs1 $r] }
foreach {a b} $emlinks {
  set em [new ErrorModel]; $em unit pkt; $em set rate_ $P(oloss)
  $ns lossmodel $em $a $b
  set t [droptrace $a $b]; $em drop-target $t; lappend ems $em }

foreach {numbers nodes} [list $P(olist) [list $w1 $mn $bs1 $r] $P(nlist) [list $w2 $mn $bs2 $r]] {
  foreach list [split $numbers /] {a b} $nodes {
    if {$list eq ""} continue
    set em [new ErrorModel/List]; $em unit pkt; $em droplist [split $list ,]
    $ns lossmodel $em $a $b
    $em drop-target [droptrace $a $b] } }

if {$P(nloss) > 0} {
  foreach {a b} [list $w2 $mn $bs2 $r] {
    set em [new ErrorModel]; $em unit pkt; $em set rate_ $P(nloss)
    $ns lossmodel $em $a $b
    $em drop-target [droptrace $a $b] } }

# TCP
for {set i 0} {$i<$P(flows)} {incr i} {
  set tcp($i) [new Agent/TCP/$P(sack1)]
  if {$P(delack)} { set sink($i) [new Agent/TCPSink/Sack1/DelAck]; $sink($i) set interval_ $P(dainterval) } \
  else { set sink($i) [new Agent/TCPSink/Sack1] }
  catch {$sink($i) set RFC2581_immediate_ack_ $P(rfc2581)}
  catch {$sink($i) set SYN_immediate_ack_ $P(synimm)}
  $tcp($i) set fid_ $i
  $tcp($i) set packetSize_ $P(mss)
  $tcp($i) set window_ $P(window)
  $tcp($i) set windowInit_ $P(winit)
  $tcp($i) set tcpTick_ $P(tick)
  $tcp($i) set minrto_ $P(minrto)
  $tcp($i) set rtxcur_init_ $P(rtxinit)
  $tcp($i) set maxburst_ $P(maxburst)
  if {!$P(syn)} { $tcp($i) set syn_ false; $tcp($i) set delay_growth_ false }
  if {$P(partial)} { $tcp($i) set partial_ack_ true }
  if {$P(limfix)} { $tcp($i) set LimTransmitFix_ true }
  if {!$P(prec)} { $tcp($i) set precisionReduce_ false }
  foreach {kk vv} [split $P(set) ,:] { if {$kk ne ""} { $tcp($i) set $kk $vv } }
  foreach {kk vv} [split $P(sinkset) ,:] { if {$kk ne ""} { $sink($i) set $kk $vv } }
  $ns attach-agent $cn $tcp($i); $ns attach-agent $mn $sink($i); $ns connect $tcp($i) $sink($i)
  set ftp($i) [new Application/FTP]; $ftp($i) attach-agent $tcp($i)
  $ns at [expr {$P(flowstart)+$i*$P(offset)}] "$ftp($i) start"
  set port2flow([$tcp($i) set agent_port_]) $i
}
set ctr {ack_ nrexmit_ nrexmitpack_ ncwndcuts1_}

proc snap {what} { global tcp P S
  for {set i 0} {$i<$P(flows)} {incr i} {
    foreach v {ack_ maxseq_ t_seqno_ nrexmit_ nrexmitpack_ ncwndcuts1_ cwnd_ ssthresh_ dupacks_ srtt_ rttvar_ backoff_} {
      set S($what,$i,$v) [$tcp($i) set $v] } } }

proc begin_handoff {t} {
  global ns P ems tcp chch chfile drtr T0 Tc drch isChild ctr
  set T0 $t
  flush $drch
  set chfile $P(tmp)/child.[pid].[expr {$isChild}].tr
  set chch [open $chfile w]; fconfigure $chch -buffersize 262144
  foreach d $drtr { $d attach $chch }
  for {set i 0} {$i<$P(flows)} {incr i} { $tcp($i) attach $chch; foreach v $ctr { $tcp($i) trace $v } 
      if {$P(verbose)>1} { $tcp($i) trace cwnd_; $tcp($i) trace maxseq_; $tcp($i) trace ssthresh_ } }
  snap start
  if {$P(kind) eq "bbm"} {
    foreach e $ems { $e set rate_ 1.0 }
    set Tc [expr {$t+$P(disc)}]
    $ns at $Tc complete
  } else { set Tc $t; complete }
}
proc complete {} {
  global ns Tc pollstep
  prefer 2
  $ns compute-routes
  snap comp
  set pollstep 0.02
  $ns at [expr {$Tc+$pollstep}] poll
}
proc poll {} {
  global ns tcp P S Tc pollstep
  set done 1
  for {set i 0} {$i<$P(flows)} {incr i} {
    if {[$tcp($i) set ack_] < $S(comp,$i,maxseq_)+$P(npk)} { set done 0; break } }
  set now [$ns now]
  if {$done || $now > $Tc+$P(limit)} { wrap $done; return }
  $ns at [expr {$now+$pollstep}] poll
}
proc wrap {done} {
  global ns P S T0 Tc chch chfile drch isChild port2flow tcp parentfile
  flush $chch; close $chch
  set L {}
  # drops of data segments before the handoff
  set f [open $parentfile]; 
  while {[gets $f l]>=0} { if {[lindex $l 4] eq "tcp"} { set dropped([lindex $l 7],[lindex $l 10]) 1 } }
  close $f
  set F $P(flows)
  for {set i 0} {$i<$F} {incr i} { set una($i) $S(start,$i,ack_); set tA($i) -1; set tB($i) -1
     set rto($i) {}; set fr($i) {}; set rxt($i) {}; set cc($i) $S(start,$i,ncwndcuts1_); set nr($i) $S(start,$i,nrexmit_) ; set pend($i) "" }
  set drops {}; set mbase [expr {2*(0.004+$P(ndel)/1000.0)+12.0/$P(nbw)}]
  set spur {}
  set f [open $chfile]
  while {[gets $f l]>=0} {
    if {[string index $l 0] eq "d"} {
      set tt [lindex $l 1]; set ty [lindex $l 4]; set a [lindex $l 2]; set b [lindex $l 3]
      lappend drops [list $tt $ty $a $b [lindex $l 10]]
      if {$ty eq "tcp"} { set dropped([lindex $l 7],[lindex $l 10]) 1 }
      continue
    }
    foreach {tt aa pp da dp name val} $l break
    set i $port2flow($pp)
    switch $name {
      ack_ {
        if {$tB($i)<0 && $tt>=$Tc && $val >= $S(comp,$i,ack_)+$P(npk)} { set tB($i) $tt }
        if {$tA($i)<0 && $tt>=$Tc && $val >= $S(comp,$i,maxseq_)+$P(npk)} { set tA($i) $tt }
        if {$pend($i) ne "" && $val>$una($i)} { if {$tt-$pend($i) < $mbase} {lappend spur $pend($i)}; set pend($i) "" }
        set una($i) $val }
      nrexmit_ { if {$val>$nr($i)} { lappend rto($i) $tt; set nr($i) $val
           if {![info exists dropped($i,[expr {$una($i)+1}])]} { lappend spur $tt; set pend($i) "" } else { set pend($i) $tt } } }
      ncwndcuts1_ { if {$val>$cc($i)} { lappend fr($i) $tt; set cc($i) $val } }
      nrexmitpack_ { if {$val>$S(start,$i,nrexmitpack_)} {lappend rxt($i) $tt} }
    }
  }
  close $f; if {!$P(keep)} {file delete $chfile}
  # flow-level results; slowest flow counts
  set A -1; set B -1; set ok 1
  for {set i 0} {$i<$F} {incr i} { if {$tA($i)<0} {set ok 0}; if {$tA($i)>$A} {set A $tA($i)}; if {$tB($i)>$B} {set B $tB($i)} }
  set end [expr {$ok ? $A : 1e9}]
  set nrto 0; set nrtoB 0; set nrtod 0; set nfr 0; set nrx 0; set nrxd 0; set firstrto ""; set nsp 0; set nspA 0; set allrto {}; set allfr {}
  for {set i 0} {$i<$F} {incr i} {
    foreach t $rto($i) { if {$t<$Tc} {incr nrtod} elseif {$t<=$end+1e-9} {incr nrto; if {$t<=$B} {incr nrtoB}; if {$firstrto eq "" || $t<$firstrto} {set firstrto $t}}; lappend allrto $t }
    foreach t $fr($i) { if {[lsearch -exact $rto($i) $t]<0} { if {$t>=$Tc && $t<=$end+1e-9} {incr nfr}; lappend allfr $t } }
    foreach t $rxt($i) { if {$t<$Tc} {incr nrxd} elseif {$t<=$end+1e-9} {incr nrx} } }
  foreach t $spur { if {$t>=$Tc && $t<=$end+1e-9} {incr nsp} }
  set dq 0; set da 0; set de 0; set dw 0; set first ""; set dl {}
  foreach d $drops { foreach {tt ty a b sq} $d break
    # nodes: 0 cn 1 r 2 bs1 3 bs2 4 w1 5 w2 6 mn
    set lnk $a-$b
    if {$lnk in {4-6 2-1 6-4} || ($lnk eq "4-2" && $P(errpos) eq "entry" && $P(kind) eq "bbm")} { incr de; continue }
    if {$tt<$Tc || $tt>$end+1e-9} continue
    if {$lnk ni {2-4 4-2 3-5 5-3}} { incr dw }
    if {$ty eq "tcp"} { incr dq; lappend dl $tt:$sq } else { incr da } }
  set fl0 0; set flc 0; set flm 0
  for {set i 0} {$i<$F} {incr i} { incr fl0 [expr {$S(start,$i,maxseq_)-$S(start,$i,ack_)}]; incr flc [expr {$S(comp,$i,t_seqno_)-1-$S(comp,$i,ack_)}] }
  set fA nan; set fB nan
  if {$ok} { set fA [format %.5f [expr {$A-$Tc}]] }
  set okB 1; for {set i 0} {$i<$F} {incr i} { if {$tB($i)<0} {set okB 0} }
  if {$okB} { set fB [format %.5f [expr {$B-$Tc}]] }
  set frt ""; if {$firstrto ne ""} { set frt [format %.4f [expr {$firstrto-$Tc}]] }
  set disc [expr {$P(kind) eq "bbm" ? $P(disc) : 0}]
  set row "$P(paper),$P(obw),$P(odel),$P(nbw),$P(ndel),$P(kind),$disc,$F,[format %.1f $T0],$fA,$fB,$nrto,[expr {$dq+$da}],$nrx"
  set xrow "$row,$nrtoB,$nrtod,$nfr,$nsp,$nrxd,$da,$de,$dw,$fl0,$frt,$S(start,0,maxseq_),$S(start,0,ack_),[format %.3f $S(start,0,cwnd_)],$S(start,0,ssthresh_),[expr {$ok?0:1}]"
  if {$P(out) ne ""} { set o [open $P(out) a]; puts $o $row; close $o }
  if {$P(ext) ne ""} { set o [open $P(ext) a]; puts $o $xrow; close $o }
  if {$P(verbose)} {
    puts "row $row"
    for {set i 0} {$i<$F} {incr i} {
    puts "flow $i at T: ack=$S(start,$i,ack_) maxseq=$S(start,$i,maxseq_) flight=[expr {$S(start,$i,maxseq_)-$S(start,$i,ack_)}] cwnd=[format %.2f $S(start,$i,cwnd_)] ssthresh=$S(start,$i,ssthresh_) dupacks=$S(start,$i,dupacks_) srtt=[expr {($S(start,$i,srtt_)>>3)*$P(tick)}] rttvar=[expr {($S(start,$i,rttvar_)/4.0)*$P(tick)}] nrto_before=$S(start,$i,nrexmit_) nFR_before=[expr {$S(start,$i,ncwndcuts1_)-$S(start,$i,nrexmit_)}] qo=$::qo qn=$::qn" }
    puts "at completion: ack=$S(comp,0,ack_) maxseq=$S(comp,0,maxseq_) t_seqno=$S(comp,0,t_seqno_)"
    puts "RTO: [lsort -real $allrto]   FR: [lsort -real $allfr]  spurious: $spur"
    puts "drops(after completion) data=$dq ack=$da err=$de wired=$dw : [lrange $dl 0 40]"
    puts "defA=$fA defB=$fB rto_disc=$nrtod rexmit=$nrx"
  }
  if {$isChild} { os_exit 0 } else { if {$P(tr) ne ""} {global trf; flush $trf}; if {$P(keep)} { puts "KEEP $parentfile $chfile" } else { file delete $parentfile }; exit 0 }
}
proc branch {t} {
  global isChild drch
  if {$isChild} return
  flush $drch
  set p [os_fork]
  if {$p==0} { set isChild 1; begin_handoff $t; return }
  set rc [os_wait $p]
  if {$rc != 0} { puts stderr "child T=$t rc=$rc"; }
}
proc parent_end {} { global isChild drch parentfile; if {$isChild} return; close $drch; file delete $parentfile; exit 0 }
set parentfile $P(tmp)/parent.[pid].tr
if {$P(Tlist) ne ""} {
  foreach {a b s} [split $P(Tlist) :] break
  set n [expr {round(($b-$a)/$s)}]
  for {set k 0} {$k<=$n} {incr k} { set t [format %.4f [expr {$a+$k*$s}]]; $ns at $t "branch $t" }
  $ns at [expr {$b+0.001}] parent_end
} else { $ns at $P(T) "begin_handoff $P(T)" }
$ns run
