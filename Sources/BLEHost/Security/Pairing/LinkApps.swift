/// The apps that use one link.
///
/// They determine the agents and policies for pairings on the link.
struct LinkApps: Equatable {
    private let owners: [ClientOwner]

    init(_ owners: [ClientOwner] = []) {
        self.owners = owners.enumerated().filter { index, owner in !owners[..<index].contains(owner) }.map(\.element)
    }

    /// Returns whether the app of `owner` uses the link.
    ///
    /// The program that contains the host counts as using every link.
    func contains(_ owner: ClientOwner) -> Bool { owner.isProgram || owners.contains { $0.isSameApp(as: owner) } }

    /// Returns whether the app of `owner` may answer questions about pairings on the link, and receive the outcome.
    ///
    /// An app may do so if it is an administrator, or if an app of the same user uses the link.
    func canAnswer(_ owner: ClientOwner) -> Bool {
        owner.isAdministrator || owners.contains { $0.isSameUser(as: owner) }
    }

    /// Returns whether to store the keys of a pairing on the link.
    ///
    /// Returns `false` only if apps use the link and `isForbidden` returns true for all of them.
    func keepBonds(unlessForbidden isForbidden: (ClientOwner) -> Bool) -> Bool {
        owners.isEmpty || owners.contains { !isForbidden($0) }
    }

    /// The user IDs of the apps, without duplicates.
    var users: [UInt32] {
        var users: [UInt32] = []
        for user in owners.compactMap(\.user) where user != ClientOwner.unknownUser && !users.contains(user) {
            users.append(user)
        }
        return users
    }
}
