//! The sender: a congestion control of eBPF and the programs that hear notices.

#[cfg(test)]
mod tests {
    use crate::skeleton::sender::SenderSkelBuilder;
    use libbpf_rs::skel::{OpenSkel, SkelBuilder};

    #[test]
    fn the_programs_load() {
        let mut object = std::mem::MaybeUninit::uninit();
        let open = SenderSkelBuilder::default().open(&mut object).expect("it opens");
        let mut skel = open.load().expect("it loads");
        let _link = skel.maps.segue.attach_struct_ops().expect("it attaches");
    }
}
