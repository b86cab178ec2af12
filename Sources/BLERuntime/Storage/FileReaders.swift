import Glibc
import LinuxCalls

extension FileDescriptor {
    /// Lets only this process's user write to an open file or directory, and only that user and `reader` read it;
    /// returns whether that succeeded.
    ///
    /// If the reader is another user, this sets an access control list, acl(5), as an extended attribute in the
    /// kernel's format: `posix_acl_xattr_header` and entries. The owner of a file needs no privileges for this, but
    /// some file systems do not support it (`EOPNOTSUPP`).
    func restrict(toReader reader: UInt32?, isDirectory: Bool = false) -> Bool {
        let ofOwner: UInt16 = isDirectory ? 0o7 : 0o6, ofReader: UInt16 = isDirectory ? 0o5 : 0o4
        guard let reader, reader != geteuid() else { return fchmod(raw, mode_t(ofOwner) << 6) == 0 }
        // The owner, a named user, the group, the mask for named users and the group, and everyone else.
        let entries: [(tag: UInt16, permissions: UInt16, user: UInt32)] = [
            (0x01, ofOwner, .max), (0x02, ofReader, reader), (0x04, 0, .max), (0x10, ofReader, .max), (0x20, 0, .max),
        ]
        let version: UInt32 = 2
        var octets = Self.octets(of: version)
        for entry in entries {
            octets += Self.octets(of: UInt32(entry.tag) | UInt32(entry.permissions) << 16) + Self.octets(of: entry.user)
        }
        return set_attribute(raw, "system.posix_acl_access", octets, UInt(octets.count)) == 0
    }

    /// Returns the octets of a number, least significant first.
    private static func octets(of number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
