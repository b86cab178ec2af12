import CoreBluetooth

/// A model of what Apple documents about a peripheral manager.
///
/// There is one answer for each added service, each start of advertising and each published channel. A central
/// unsubscribes only after it has subscribed.
struct ServerModel {
    private struct Start {
        /// The code of the error; `nil` for success.
        let code: Int?
        let made: Duration
        /// True if the radio has been switched off since; any answer or none is then allowed.
        var isVoid = false
    }

    /// True if the app has started advertising, and has not stopped it.
    private(set) var advertises = false
    private var starts: [Start] = []
    private var additions: [(service: ObjectIdentifier, code: Int?, made: Duration)] = []
    private var publications: [Duration] = []
    private var withdrawals: [CBL2CAPPSM] = []
    /// Services that the system dropped before it had reported their addition; the report may or may not arrive.
    private var voidAdditions: [ObjectIdentifier] = []
    /// The number of channel publications that were pending when the radio was switched off.
    ///
    /// Each of them may get any answer, or none.
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
        else { return "didStartAdvertising with an unexpected result: \(told(error))" }
        // If advertising fails because there is no radio, it does not start when the radio returns.
        if starts.remove(at: index).code == nil, error != nil { advertises = false }
        return nil
    }

    mutating func add(_ service: ObjectIdentifier, refusal: CBError.Code?, at now: Duration) {
        additions.append((service, refusal?.rawValue, now))
    }

    /// Records the answer to ``add(_:refusal:at:)``.
    ///
    /// An unexpected error is allowed if `isExcused`, because the radio may have been switched off since the request.
    ///
    /// - Returns: A complaint if the answer is wrong; otherwise `nil`.
    mutating func added(_ service: ObjectIdentifier, _ error: (any Error)?, isExcused: Bool) -> String? {
        guard let index = additions.firstIndex(where: { $0.service == service }) else {
            guard let index = voidAdditions.firstIndex(of: service) else { return "didAdd without a request" }
            voidAdditions.remove(at: index)
            return nil
        }
        let addition = additions.remove(at: index)
        if addition.code == nil, error is CBError, isExcused { return nil }
        let isExpected = (error as? CBError)?.errorCode == addition.code
        return isExpected ? nil : "didAdd with an unexpected result: \(told(error))"
    }

    mutating func publish(at now: Duration) { publications.append(now) }

    mutating func published(_ error: (any Error)?) -> String? {
        guard !publications.isEmpty else {
            voidPublications -= 1
            return voidPublications < 0 ? "didPublish without a request" : nil
        }
        publications.removeFirst()
        return error == nil ? nil : "didPublish with an unexpected result: \(told(error))"
    }

    mutating func unpublish(_ psm: CBL2CAPPSM) { withdrawals.append(psm) }

    mutating func unpublished(_ psm: CBL2CAPPSM) -> String? {
        if let index = withdrawals.firstIndex(of: psm) {
            withdrawals.remove(at: index)
        } else if let index = voidWithdrawals.firstIndex(of: psm) {
            voidWithdrawals.remove(at: index)
        } else {
            return "didUnpublish of channel \(psm) without a request"
        }
        return nil
    }

    mutating func subscribed(_ central: UUID, _ characteristic: CBUUID) -> String? {
        if subscriptions[characteristic, default: []].contains(central) { return "subscribed twice" }
        subscriptions[characteristic, default: []].append(central)
        return nil
    }

    mutating func unsubscribed(_ central: UUID, _ characteristic: CBUUID) -> String? {
        guard let index = subscriptions[characteristic]?.firstIndex(of: central) else {
            return "unsubscribed without a subscription"
        }
        subscriptions[characteristic]?.remove(at: index)
        return nil
    }

    func subscribers(_ characteristic: CBUUID) -> [UUID] { subscriptions[characteristic] ?? [] }

    /// Records that the manager did not accept a value.
    mutating func refused(at now: Duration) { waitsForRoom = waitsForRoom ?? now }

    mutating func ready() -> String? {
        defer { waitsForRoom = nil }
        return waitsForRoom == nil ? "peripheralManagerIsReady although no value was rejected" : nil
    }

    /// Records that services are removed, and with them the subscriptions to these characteristics.
    mutating func withdrew(_ characteristics: [CBUUID]) {
        for characteristic in characteristics { subscriptions[characteristic] = nil }
    }

    /// Records that the radio was switched off.
    ///
    /// If `forgets`, the system has dropped all services.
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

    /// Returns descriptions of the requests that have waited since before `instant`.
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
