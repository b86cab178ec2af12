import BLEWire

/// Which advertisements there are for what several apps want.
///
/// There is one as long as the services of the apps in the foreground find room in its budget. What does not, is in
/// another one: in an advertising set of its own, or where the controller has no further set, in the last one by turns.
/// An app that comes first has its services in the first one. What apps in the background want is in the overflow area
/// of the first; if there is nothing else, it is sent less often.
struct AdvertisementPlan: Equatable, Sendable {
    /// How long a turn is.
    static let turn = Duration.seconds(1)

    /// What an app wants, and how far it is in use.
    struct Wish {
        let client: ClientID
        let request: AdvertisingRequest
        let phase: AppPhase
    }

    /// An advertisement, and whose it is.
    struct Share: Equatable, Sendable {
        let clients: [ClientID]
        let content: AdvertisementContent
    }

    /// The advertisements, that of the first app first.
    let shares: [Share]

    /// Plans for apps in the order in which they came; those that are suspended do not advertise.
    init(_ wishes: [Wish] = []) {
        guard wishes.contains(where: { $0.phase != .suspended }) else {
            shares = []
            return
        }
        var groups: [[Wish]] = [[]]
        for wish in wishes where wish.phase == .foreground {
            if let index = groups.firstIndex(where: { Self.fit($0 + [wish]) }) {
                groups[index].append(wish)
            } else if groups[0].isEmpty {
                groups[0] = [wish]
            } else {
                groups.append([wish])
            }
        }
        let background = wishes.filter { $0.phase == .background }
        let hidden = AdvertisementContent.merged(background.map(\.request)).services
        shares = groups.enumerated().map { index, group in
            Share(
                clients: (group + (index == 0 ? background : [])).map(\.client),
                content: AdvertisementContent(
                    AdvertisementContent.merged(group.map(\.request)),
                    hiding: index == 0 ? hidden : [],
                    sent: group.isEmpty ? .background : AdvertisingParameters()
                )
            )
        }
    }

    /// Whether one advertisement has room for all of these.
    private static func fit(_ group: [Wish]) -> Bool {
        let requests = group.map(\.request), merged = AdvertisementContent.merged(requests)
        guard merged.broadcast == nil else {
            return requests.count { $0.broadcast != nil } == 1 && AdvertisementContent.fits(merged)
        }
        return merged.services.reduce(0) { $0 + $1.octets.count } <= AdvertisementBudget.octets
    }

    /// Whether there are more advertisements than sets for them.
    func hasTurns(in sets: Int) -> Bool { shares.count > sets }

    /// What is in each of so many sets while this turn lasts.
    func contents(in sets: Int, turn: Int) -> [AdvertisementContent] {
        guard hasTurns(in: sets) else { return shares.map(\.content) }
        let last = max(1, sets) - 1
        return shares[..<last].map(\.content) + [shares[last + turn % (shares.count - last)].content]
    }

    /// What is on the air for an app: its advertisement, or the first if it is in none; `nil` if there is none at all.
    func content(for client: ClientID) -> AdvertisementContent? {
        (shares.first { $0.clients.contains(client) } ?? shares.first)?.content
    }
}
