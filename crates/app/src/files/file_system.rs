//! Which file system a path is on, if it is one on which SQLite is not safe.

use std::path::Path;

/// File systems whose locks or shared memory another machine, or another program, may not see. The numbers
/// are those of `statfs(2)`.
const SHARED: [(u32, &str); 15] = [
    (0x6969, "NFS"),
    (0x517B, "SMB"),
    (0xFF53_4D42, "CIFS"),
    (0xFE53_4D42, "SMB"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE"),
    (0x5346_414F, "AFS"),
    (0x6B41_4653, "AFS"),
    (0x7375_7245, "Coda"),
    (0x00C3_6400, "Ceph"),
    (0x0BD0_0BD0, "Lustre"),
    (0x1983_0326, "BeeGFS"),
    (0x4750_4653, "GPFS"),
    (0x786F_4256, "a shared folder of VirtualBox"),
    (0xBACB_ACBC, "a shared folder of VMware"),
];

/// The name of the file system, if it is one of those. Asks about the nearest folder that exists.
pub(crate) fn shared(path: &Path) -> Option<&'static str> {
    std::path::absolute(path).ok()?.ancestors().find_map(kind).and_then(name)
}

#[cfg(target_os = "linux")]
fn kind(path: &Path) -> Option<u32> {
    let system = rustix::fs::statfs(path).ok()?;
    // The type is signed on some machines, and wider than the number on others.
    u32::try_from(i128::from(system.f_type) & 0xFFFF_FFFF).ok()
}

#[cfg(not(target_os = "linux"))]
fn kind(_: &Path) -> Option<u32> {
    None
}

fn name(kind: u32) -> Option<&'static str> {
    SHARED.iter().find(|(number, _)| *number == kind).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_of_other_machines_are_known_and_local_ones_are_not_suspected() {
        // The numbers as `stat -f -c %t` prints them.
        let known = [("6969", "NFS"), ("ff534d42", "CIFS"), ("1021997", "9p"), ("65735546", "FUSE")];
        for (number, expected) in known {
            assert_eq!(name(u32::from_str_radix(number, 16).unwrap()), Some(expected));
        }
        for (local, number) in
            [("ext4", 0xEF53), ("xfs", 0x5846_5342), ("btrfs", 0x9123_683E), ("tmpfs", 0x0102_1994)]
        {
            assert_eq!(name(number), None, "{local}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_path_that_does_not_exist_yet_is_on_the_file_system_of_its_nearest_folder() {
        assert_eq!(kind(Path::new("/proc")), Some(0x9FA0));
        assert_eq!(Path::new("/proc/no/such/file").ancestors().find_map(kind), Some(0x9FA0));
    }
}
