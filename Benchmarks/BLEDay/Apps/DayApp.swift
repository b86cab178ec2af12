import CoreBluetooth

/// An app with one manager, which keeps track of its requests, and checks every delegate call against Apple's
/// documentation.
///
/// Sendable because it works on its queue and, if the queue is concurrent, in barrier blocks.
class DayApp: @unchecked Sendable {
    /// The kind of queue on which the delegate is called.
    enum Kind: Equatable {
        case main, serial, concurrent
    }

    private static let key = DispatchSpecificKey<String>()
    /// True while the current task or thread is inside a call from the app to its manager.
    @TaskLocal private static var isCalling = false

    let name: String
    /// The name of the machine on which the app runs.
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

    /// Runs `body` asynchronously on the queue, at a time when no delegate call runs there.
    func post(_ body: @escaping @Sendable () -> Void) { queue.async(flags: .barrier, execute: body) }

    /// Runs `body` on the queue, and waits until it has finished.
    func perform(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { done in
            post {
                body()
                done.resume()
            }
        }
    }

    /// Runs `body`, which creates and stores the manager, before the delegate can be called.
    ///
    /// If the app uses the main queue, the caller must be on it.
    func make(_ body: () -> Void) {
        guard queue !== DispatchQueue.main else { return call("manager", body) }
        queue.suspend()
        defer { queue.resume() }
        call("manager", body)
    }

    /// Calls the manager or one of its objects, and counts the call.
    func call<Result>(_ kind: String, _ body: () -> Result) -> Result {
        chronicle.operation(kind)
        return Self.$isCalling.withValue(true, operation: body)
    }

    /// Processes a delegate call, and checks that it is on the right queue, and that it happens neither inside a call
    /// of the app nor during another delegate call.
    func hear(_ kind: String, _ body: () -> Void) {
        chronicle.callback(kind)
        if DispatchQueue.getSpecific(key: Self.key) != label { complain("\(kind) on the wrong queue") }
        if Self.isCalling { complain("\(kind) before the call returned") }
        let overlaps = isHearing.withLock { isHearing in
            defer { isHearing = true }
            return isHearing
        }
        if overlaps { complain("\(kind) while another method of the delegate runs") }
        body()
        isHearing.withLock { $0 = false }
    }

    /// True if the app may start something new in response to a delegate call.
    var isBusy: Bool { chronicle.stage ?? .busy == .busy }

    func complain(_ what: String?) {
        if let what { chronicle.complain("\(machine) \(name)", what) }
    }
}
