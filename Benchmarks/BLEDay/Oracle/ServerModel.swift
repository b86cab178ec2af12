import CoreBluetooth

/// What Apple documents of a peripheral manager: one answer for each service, each start and each channel number, and
/// subscriptions that begin before they end.
struct ServerModel {
    private struct Start {
        /// The code of the error; `nil` for success.
        let code: Int?
        let made: Duration
        /// Whether the radio went off meanwhile, so that anything may be told, or nothing.
        var isVoid = false
    }

    /// Whether the app wants to advertise.
    private(set) var advertises = false
    private var starts: [Start] = []
    private var additions: [(service: ObjectIdentifier, code: Int?, made: Duration)] = []
    private var publications: [Duration] = []
    private var withdrawals: [CBL2CAPPSM] = []
    /// Services whose answer may be on its way, or may not come, since the system lost them with the radio.
    private var voidAdditions: [ObjectIdentifier] = []
    /// Channel numbers of which anything may be told, or nothing, since the radio went off meanwhile.
    private var voidPublications = 0
    private var voidWithdrawals: [CBL2CAPPSM] = []
    private var subscriptions: [CBUUID: [UUID]] = [:]
    private var waitsForRoom: Duration?

    mutating func start(isWellFormed: Bool, at now: Duration) {
        let code: CBError.Code? = !isWellFormed ? .invalidParameters : advertises ? .alreadyAdvertising : nil
        starts.append(Start(code: code?.rawValue, made: now))
        if code == nil { advertises = true }
    }

    mutating func stop() { advertises = false }

    mutating func started(_ error: (any Error)?) -> String? {
        let code = (error as? CBError)?.errorCode
        if let index = starts.firstIndex(where: { $0.code == code && !$0.isVoid }) {
            starts.remove(at: index)
            return nil
        }
        guard
            let index = starts.firstIndex(where: { $0.isVoid && $0.code == code }) ?? starts.firstIndex(where: \.isVoid)
        else { return "started advertising with \(told(error))" }
        // What failed for want of the radio does not begin with it, either.
        if starts.remove(at: index).code == nil, error != nil { advertises = false }
        return nil
    }

    mutating func add(_ service: ObjectIdentifier, refusal: CBError.Code?, at now: Duration) {
        additions.append((service, refusal?.rawValue, now))
    }

    /// Takes the answer to ``add(_:refusal:at:)``, excused if the radio may have gone off meanwhile.
    ///
    /// - Returns: What is wrong, if anything.
    mutating func added(_ service: ObjectIdentifier, _ error: (any Error)?, isExcused: Bool) -> String? {
        guard let index = additions.firstIndex(where: { $0.service == service }) else {
            guard let index = voidAdditions.firstIndex(of: service) else { return "added, unasked" }
            voidAdditions.remove(at: index)
            return nil
        }
        let addition = additions.remove(at: index)
        if addition.code == nil, error is CBError, isExcused { return nil }
        return (error as? CBError)?.errorCode == addition.code ? nil : "added with \(told(error))"
    }

    mutating func publish(at now: Duration) { publications.append(now) }

    mutating func published(_ error: (any Error)?) -> String? {
        guard !publications.isEmpty else {
            voidPublications -= 1
            return voidPublications < 0 ? "published a channel, unasked" : nil
        }
        publications.removeFirst()
        return error == nil ? nil : "published a channel with \(told(error))"
    }

    mutating func unpublish(_ psm: CBL2CAPPSM) { withdrawals.append(psm) }

    mutating func unpublished(_ psm: CBL2CAPPSM) -> String? {
        if let index = withdrawals.firstIndex(of: psm) {
            withdrawals.remove(at: index)
        } else if let index = voidWithdrawals.firstIndex(of: psm) {
            voidWithdrawals.remove(at: index)
        } else {
            return "withdrew channel \(psm), unasked"
        }
        return nil
    }

    mutating func subscribed(_ central: UUID, _ characteristic: CBUUID) -> String? {
        if subscriptions[characteristic, default: []].contains(central) { return "subscribed twice" }
        subscriptions[characteristic, default: []].append(central)
        return nil
    }

    mutating func unsubscribed(_ central: UUID, _ characteristic: CBUUID) -> String? {
        guard let index = subscriptions[characteristic]?.firstIndex(of: central) else { return "unsubscribed first" }
        subscriptions[characteristic]?.remove(at: index)
        return nil
    }

    func subscribers(_ characteristic: CBUUID) -> [UUID] { subscriptions[characteristic] ?? [] }

    /// There was no room for a value.
    mutating func refused(at now: Duration) { waitsForRoom = waitsForRoom ?? now }

    mutating func ready() -> String? {
        defer { waitsForRoom = nil }
        return waitsForRoom == nil ? "ready for values although none was refused" : nil
    }

    /// Services are taken back, and with them what centrals were subscribed to.
    mutating func withdrew(_ characteristics: [CBUUID]) {
        for characteristic in characteristics { subscriptions[characteristic] = nil }
    }

    /// The radio went off; everything is void if `forgets`.
    mutating func radioLost(forgets: Bool) {
        subscriptions = [:]
        waitsForRoom = nil
        for index in starts.indices { starts[index].isVoid = true }
        voidPublications += publications.count
        voidWithdrawals += withdrawals
        publications = []
        withdrawals = []
        guard forgets else { return }
        advertises = false
        voidAdditions += additions.map(\.service)
        additions = []
    }

    /// What has waited since before `instant`.
    func overdue(since instant: Duration) -> [String] {
        var result: [String] = []
        if starts.contains(where: { $0.made < instant && !$0.isVoid }) { result.append("start of advertising") }
        if additions.contains(where: { $0.made < instant }) { result.append("added service") }
        if publications.contains(where: { $0 < instant }) { result.append("published channel") }
        if let waitsForRoom, waitsForRoom < instant { result.append("room for values") }
        return result
    }

    private func told(_ error: (any Error)?) -> String { error.map { "\($0)" } ?? "success" }
}
