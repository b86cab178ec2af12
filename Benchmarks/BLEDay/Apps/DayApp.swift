import CoreBluetooth

/// An app with one manager, which knows what it has asked for and judges what it hears.
///
/// Sendable because it works on its queue, or, if that is concurrent, on it alone.
class DayApp: @unchecked Sendable {
    /// Where a delegate is called.
    enum Kind: Equatable {
        case main, serial, concurrent
    }

    private static let key = DispatchSpecificKey<String>()
    /// Whether this thread is within a call of the app to its manager.
    @TaskLocal private static var isCalling = false

    let name: String
    /// The machine that it runs on.
    let machine: String
    let queue: DispatchQueue
    let chronicle: Chronicle
    var dice: Dice
    private let label: String
    private let isHearing = Shared(false)

    init(_ name: String, on machine: String, _ kind: Kind, seed: UInt64, _ chronicle: Chronicle) {
        self.name = name
        self.machine = machine
        self.chronicle = chronicle
        dice = Dice(seed: seed, "\(machine) \(name)")
        label = kind == .main ? "main" : "\(machine) \(name)"
        queue =
            switch kind {
            case .main: .main
            case .serial: DispatchQueue(label: label)
            case .concurrent: DispatchQueue(label: label, attributes: .concurrent)
            }
        queue.setSpecific(key: Self.key, value: label)
    }

    /// Does something on the queue, while no delegate is called there.
    func post(_ body: @escaping @Sendable () -> Void) { queue.async(flags: .barrier, execute: body) }

    /// Does something on the queue, and waits for it.
    func perform(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { done in
            post {
                body()
                done.resume()
            }
        }
    }

    /// Makes the manager and keeps it, before anything is heard from it; on the main queue if that is its queue.
    func make(_ body: () -> Void) {
        guard queue !== DispatchQueue.main else { return call("manager", body) }
        queue.suspend()
        defer { queue.resume() }
        call("manager", body)
    }

    /// Calls the manager, or what belongs to it.
    func call<Result>(_ kind: String, _ body: () -> Result) -> Result {
        chronicle.operation(kind)
        return Self.$isCalling.withValue(true, operation: body)
    }

    /// Is called by the manager, or what belongs to it.
    func hear(_ kind: String, _ body: () -> Void) {
        chronicle.callback(kind)
        if DispatchQueue.getSpecific(key: Self.key) != label { complain("\(kind) on a queue of somebody else") }
        if Self.isCalling { complain("\(kind) before the call returned") }
        let overlaps = isHearing.withLock { isHearing in
            defer { isHearing = true }
            return isHearing
        }
        if overlaps { complain("\(kind) while another method of the delegate runs") }
        body()
        isHearing.withLock { $0 = false }
    }

    /// Whether it may begin something when it hears of something else.
    var isBusy: Bool { chronicle.stage ?? .busy == .busy }

    func complain(_ what: String?) {
        if let what { chronicle.complain("\(machine) \(name)", what) }
    }
}
