import BLEWire

/// The distribution of the requests of several apps over advertisements.
///
/// A single advertisement is used if the services of all foreground apps fit into it. Otherwise, requests that do not
/// fit are put into further advertisements, each with its own advertising set. If the controller has too few
/// sets, the advertisements that are left over take turns in the last set. The first advertisement contains the
/// services of the first app. Options beyond Core Bluetooth that affect a whole advertisement, such as the interval, do
/// not apply to other apps: the request with these options has an advertisement of its own.
///
/// The overflow area with the services of background apps is in the first advertisement without options beyond Core
/// Bluetooth. If there is none, a further advertisement comes first, which is sent less often.
struct AdvertisementPlan: Equatable, Sendable {
    /// The time for which one of several advertisements uses a set before the next advertisement gets it.
    static let turn = Duration.seconds(1)

    /// An app's request, and the phase of the app.
    struct Request {
        let client: ClientID
        let request: AdvertisingRequest
        let phase: AppPhase
    }

    /// An advertisement, and the clients whose requests it contains.
    struct PlannedAdvertisement: Equatable, Sendable {
        let clients: [ClientID]
        let content: AdvertisementContent
    }

    /// The advertisements.
    let advertisements: [PlannedAdvertisement]

    /// Creates the plan for apps' requests, in the order in which they were made.
    ///
    /// Suspended apps do not advertise.
    init(_ requests: [Request] = []) {
        guard requests.contains(where: { $0.phase != .suspended }) else {
            advertisements = []
            return
        }
        var groups: [[Request]] = [[]]
        for request in requests where request.phase == .foreground {
            if let index = groups.firstIndex(where: { Self.fit($0 + [request]) }) {
                groups[index].append(request)
            } else if groups[0].isEmpty {
                groups[0] = [request]
            } else {
                groups.append([request])
            }
        }
        let background = requests.filter { $0.phase == .background }
        func isPlain(_ group: [Request]) -> Bool { group.allSatisfy { $0.request.broadcast == nil } }
        if !background.isEmpty, !groups.contains(where: isPlain) { groups.insert([], at: 0) }
        let backgroundIndex = groups.firstIndex(where: isPlain) ?? 0
        let hidden = AdvertisementContent.merged(background.map(\.request)).services
        advertisements = groups.enumerated().map { index, group in
            PlannedAdvertisement(
                clients: (group + (index == backgroundIndex ? background : [])).map(\.client),
                content: AdvertisementContent(
                    AdvertisementContent.merged(group.map(\.request)),
                    hiding: index == backgroundIndex ? hidden : [],
                    sent: group.isEmpty ? .background : AdvertisingParameters()
                )
            )
        }
    }

    /// Returns whether all requests in `group` fit into one advertisement.
    private static func fit(_ group: [Request]) -> Bool {
        let requests = group.map(\.request), merged = AdvertisementContent.merged(requests)
        if let broadcast = merged.broadcast {
            return (requests.count == 1 || broadcast.affectsOnlyOwnData)
                && requests.count { $0.broadcast != nil } == 1 && AdvertisementContent.fits(merged)
        }
        return merged.services.reduce(0) { $0 + $1.octets.count } <= AdvertisementBudget.octets
    }

    /// Returns whether some advertisements must take turns, because there are more advertisements than `sets`.
    func hasTurns(in sets: Int) -> Bool { advertisements.count > sets }

    /// Returns the number of the turn that follows `turn`; each advertisement of the last set has one turn before the
    /// numbers repeat.
    func turn(after turn: Int, in sets: Int) -> Int {
        hasTurns(in: sets) ? (turn + 1) % (advertisements.count - Self.lastSet(of: sets)) : 0
    }

    /// Returns the content of each of at most `sets` advertising sets during turn number `turn`.
    func contents(in sets: Int, turn: Int) -> [AdvertisementContent] {
        guard hasTurns(in: sets) else { return advertisements.map(\.content) }
        let last = Self.lastSet(of: sets)
        return advertisements[..<last].map(\.content) + [
            advertisements[last + turn % (advertisements.count - last)].content
        ]
    }

    private static func lastSet(of sets: Int) -> Int { max(1, sets) - 1 }

    /// Returns the advertisement that contains an app's request; the first advertisement if none contains the request,
    /// and `nil` if there are no advertisements.
    func content(for client: ClientID) -> AdvertisementContent? {
        (advertisements.first { $0.clients.contains(client) } ?? advertisements.first)?.content
    }
}

extension BroadcastRequest {
    /// True if the options only add data, so that another app's request can share the advertisement.
    fileprivate var affectsOnlyOwnData: Bool {
        octets == nil && flags == Self.usualFlags && !structures.contains { $0.type == .flags }
            && AdvertisingParameters(self) == AdvertisingParameters()
    }
}
