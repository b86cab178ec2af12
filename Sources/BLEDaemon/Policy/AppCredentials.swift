import BLEHost
import BLERuntime
import Glibc

/// Who an app is, as the kernel says, which an app cannot change.
package struct AppCredentials: Equatable, Sendable {
    /// The number of its user.
    package var user: UInt32
    /// The numbers of all its groups.
    package var groups: [UInt32]
    package var process: Int32
    /// The file of its program, that of the interpreter for a script; empty if the kernel does not tell it to the
    /// daemon.
    package var program: String

    package init(user: UInt32, groups: [UInt32], process: Int32, program: String) {
        self.user = user
        self.groups = groups
        self.process = process
        self.program = program
    }

    /// The credentials that an app had, and will have when it is launched again.
    init(of key: AppKey) {
        self.init(user: key.user, groups: Self.groups(ofUser: key.user), process: 0, program: key.program)
    }

    /// The groups that a user has from the start.
    private static func groups(ofUser user: UInt32) -> [UInt32] {
        var count: Int32 = 256, groups = [gid_t](repeating: 0, count: Int(count))
        guard let entry = getpwuid(user)?.pointee else { return [] }
        getgrouplist(entry.pw_name, entry.pw_gid, &groups, &count)
        return Array(groups.prefix(max(0, Int(count))))
    }

    /// The credentials of a process; `nil` if there is none.
    init?(ofProcess process: UInt32) {
        var facts = stat()
        guard stat("/proc/\(process)", &facts) == 0 else { return nil }
        let told = SystemFile.groups(ofProcess: process)
        // A confined daemon may not read what the kernel tells of processes of others.
        let groups = told.isEmpty ? Self.groups(ofUser: facts.st_uid) : told
        let program = SystemFile.target(of: "/proc/\(process)/exe") ?? ""
        self.init(user: facts.st_uid, groups: groups, process: Int32(bitPattern: process), program: program)
    }

    /// The credentials of whoever is at the other end of a stream; `nil` if the kernel cannot say.
    init?(of stream: SocketStream) {
        guard let peer = stream.peer else { return nil }
        let program = SystemFile.target(of: "/proc/\(peer.process)/exe") ?? ""
        self.init(user: peer.user, groups: stream.peerGroups, process: peer.process, program: program)
    }
}

extension ClientOwner {
    /// An app as the host knows it.
    init(_ app: AppCredentials?, under grant: Grant) {
        self.init(
            user: app?.user ?? Self.unknownUser,
            process: app.flatMap { $0.process > 0 ? $0.process : nil },
            isAdministrator: grant.isAdministrator
        )
    }
}
