import BLEWire

/// The distribution of several apps' requests over advertisements.
///
/// There is a single advertisement as long as the services of the foreground apps fit. Further services go into
/// advertising sets of their own or, if the controller has no more sets, take turns in the last one. The services of
/// the first app are in the first advertisement. Requests of background apps are in the overflow area of the first
/// advertisement; if there is nothing else, it is sent less often.
struct AdvertisementPlan: Equatable, Sendable {
    /// The length of a turn.
    static let turn = Duration.seconds(1)

    /// An app's request and its phase.
    struct Request {
        let client: ClientID
        let request: AdvertisingRequest
        let phase: AppPhase
    }

    /// An advertisement and the clients that it is for.
    struct Share: Equatable, Sendable {
        let clients: [ClientID]
        let content: AdvertisementContent
    }

    /// The advertisements; the first app's comes first.
    let shares: [Share]

    /// Plans for apps in the order of their requests.
    ///
    /// Suspended apps do not advertise.
    init(_ wishes: [Request] = []) {
        guard wishes.contains(where: { $0.phase != .suspended }) else {
            shares = []
            return
        }
        var groups: [[Request]] = [[]]
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

    /// Returns whether one advertisement has room for all of these.
    private static func fit(_ group: [Request]) -> Bool {
        let requests = group.map(\.request), merged = AdvertisementContent.merged(requests)
        guard merged.broadcast == nil else {
            return requests.count { $0.broadcast != nil } == 1 && AdvertisementContent.fits(merged)
        }
        return merged.services.reduce(0) { $0 + $1.octets.count } <= AdvertisementBudget.octets
    }

    /// Returns whether there are more advertisements than sets.
    func hasTurns(in sets: Int) -> Bool { shares.count > sets }

    /// Returns the content of each set during a turn.
    func contents(in sets: Int, turn: Int) -> [AdvertisementContent] {
        guard hasTurns(in: sets) else { return shares.map(\.content) }
        let last = max(1, sets) - 1
        return shares[..<last].map(\.content) + [shares[last + turn % (shares.count - last)].content]
    }

    /// Returns the current advertisement for an app: its own, or the first if it is in none; `nil` if there is none.
    func content(for client: ClientID) -> AdvertisementContent? {
        (shares.first { $0.clients.contains(client) } ?? shares.first)?.content
    }
}
