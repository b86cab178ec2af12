/// The apps that use one link, which decide who has a say in pairings on it.
struct LinkApps: Equatable {
    private let owners: [ClientOwner]

    init(_ owners: [ClientOwner] = []) {
        self.owners = owners.enumerated().filter { index, owner in !owners[..<index].contains(owner) }.map(\.element)
    }

    /// Returns whether the link is used by this app.
    func include(_ owner: ClientOwner) -> Bool { owner.isProgram || owners.contains { $0.isSameApp(as: owner) } }

    /// Whether this app may answer questions about pairings on the link, and learn the outcome: apps of the same user
    /// and administrators may.
    func concern(_ owner: ClientOwner) -> Bool {
        owner.isAdministrator || owners.contains { $0.isSameUser(as: owner) }
    }

    /// Returns whether some app on the link has keys kept: there is one that does not forbid it, or none at all.
    func keepBonds(unlessForbidden isForbidden: (ClientOwner) -> Bool) -> Bool {
        owners.isEmpty || owners.contains { !isForbidden($0) }
    }

    /// The users of the apps, each once.
    var users: [UInt32] {
        var users: [UInt32] = []
        for user in owners.compactMap(\.user) where user != ClientOwner.unknownUser && !users.contains(user) {
            users.append(user)
        }
        return users
    }
}
