import BLEHost
import BLERuntime
import BLESession
import Glibc

/// The identity of an app as the kernel reports it; the app cannot falsify it.
package struct AppCredentials: Equatable, Sendable {
    /// The user ID.
    package var user: UInt32
    /// The IDs of all groups that the app belongs to.
    package var groups: [UInt32]
    package var process: Int32
    /// The path of the program; for a script, that of the interpreter.
    ///
    /// Empty if the kernel does not show it to the daemon.
    package var program: String
    /// True if ``program`` can be relied on: the daemon finds, at that path, the file that the process is running.
    ///
    /// If the process has connected to the daemon, it must also be the one that sends the messages.
    package var isProgramKnown: Bool

    package init(user: UInt32, groups: [UInt32], process: Int32, program: String, isProgramKnown: Bool = true) {
        self.user = user
        self.groups = groups
        self.process = process
        self.program = program
        self.isProgramKnown = isProgramKnown
    }

    /// Creates the credentials that the app of a kept session will have at its next launch.
    init(of key: AppKey) {
        self.init(user: key.user, groups: Self.groups(ofUser: key.user), process: 0, program: key.program)
    }

    /// Returns the groups that a user's processes start with.
    private static func groups(ofUser user: UInt32) -> [UInt32] {
        var count: Int32 = 256, groups = [gid_t](repeating: 0, count: Int(count))
        guard let entry = getpwuid(user)?.pointee else { return [] }
        getgrouplist(entry.pw_name, entry.pw_gid, &groups, &count)
        return Array(groups.prefix(max(0, Int(count))))
    }

    /// Reads the credentials of a process; returns `nil` if it does not exist.
    init?(ofProcess process: UInt32) {
        var facts = stat()
        guard stat("/proc/\(process)", &facts) == 0 else { return nil }
        let told = SystemFile.groups(ofProcess: process)
        // A sandboxed daemon may not be able to read what the kernel reports about other users' processes.
        let groups = told.isEmpty ? Self.groups(ofUser: facts.st_uid) : told
        let number = Int32(bitPattern: process), (program, isSame) = Self.program(ofProcess: number)
        self.init(user: facts.st_uid, groups: groups, process: number, program: program, isProgramKnown: isSame)
    }

    /// True if root or the daemon's user runs the program.
    ///
    /// Such a program may open sessions on behalf of other programs.
    var ownsDaemon: Bool { user == 0 || user == geteuid() }

    /// Creates the credentials of a program on whose behalf another program opens a session.
    ///
    /// The program file counts as known only if the process belongs to the principal's user. Otherwise a reused process
    /// ID would give that user the rights of another user's program.
    init(of principal: Principal) {
        if let process = Self(ofProcess: principal.process), process.user == principal.user {
            self = process
            return
        }
        self.init(
            user: principal.user,
            groups: Self.groups(ofUser: principal.user),
            process: Int32(clamping: principal.process),
            program: "",
            isProgramKnown: false
        )
    }

    /// Creates the credentials of the process that connected, before it has sent anything; returns `nil` if the kernel
    /// does not report it.
    init?(connectedBy stream: SocketStream) {
        guard let peer = stream.peer else { return nil }
        self.init(notIdentified: peer)
    }

    /// Creates credentials without looking up the program, which would take longer than refusing the connection.
    init(notIdentified peer: SocketPeer) {
        self.init(user: peer.user, groups: [], process: peer.process, program: "", isProgramKnown: false)
    }

    /// Creates the credentials of the process that connected, when a message has arrived; returns `nil` if the kernel
    /// does not report it.
    ///
    /// The program is not known if another process has sent the message.
    init?(sendingOn stream: SocketStream) {
        guard let peer = stream.peer else { return nil }
        let (program, isSame) = Self.program(ofProcess: peer.process)
        self.init(
            user: peer.user,
            groups: stream.peerGroups,
            process: peer.process,
            program: program,
            isProgramKnown: isSame && stream.sender == peer.process && !stream.hasPeerEnded
        )
    }

    /// Returns the path of a process's program, as the kernel reports it, and whether the daemon finds the same file
    /// there.
    ///
    /// In a mount namespace of its own, a process can have another file under the same path.
    private static func program(ofProcess process: Int32) -> (path: String, isSame: Bool) {
        let link = "/proc/\(process)/exe"
        guard let path = SystemFile.target(of: link) else { return ("", false) }
        return (path, SystemFile.isSame(link, path))
    }
}

extension ClientOwner {
    /// Creates the owner that represents an app in the host.
    init(_ app: AppCredentials?, under grant: Grant) {
        self.init(
            user: app?.user ?? Self.unknownUser,
            process: app.flatMap { $0.process > 0 ? $0.process : nil },
            isAdministrator: grant.isAdministrator
        )
    }
}
