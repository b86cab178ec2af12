import CoreBluetooth

/// What Apple documents of the requests to one peripheral: each is answered once, and all of them in order.
struct RequestModel {
    enum Kind: String {
        case services, included, characteristics, descriptors, read, readDescriptor, write, writeDescriptor, notify
        case rssi, channel
    }

    enum Outcome: Equatable {
        case success
        /// The peripheral, or the system in its place, refuses with this code.
        case refusal(Int)
        case either
    }

    struct Request {
        var kind: Kind
        /// The service, characteristic or descriptor.
        var subject: ObjectIdentifier?
        var outcome: Outcome
        /// Whether nobody needs to be asked, so that nothing else can come of it.
        var isCertain = false
        /// The number of the value that is written, if the server counts it.
        var number: UInt64?
        var made: Duration
    }

    private var open: [Request] = []
    /// Requests about attributes that went away meanwhile, which may be answered or not.
    private var void: [Request] = []

    mutating func ask(_ request: Request) { open.append(request) }

    enum Answer {
        case due(Request)
        /// Nobody waits for it any more, and that is nobody's fault.
        case void
        case unasked
        case early(Request, before: Request)
    }

    /// Takes the answer about `subject`.
    mutating func answer(_ kind: Kind, _ subject: ObjectIdentifier?) -> Answer {
        let matches = { (request: Request) in request.kind == kind && request.subject == subject }
        guard let index = open.firstIndex(where: matches) else {
            guard let index = void.firstIndex(where: matches) else { return .unasked }
            void.remove(at: index)
            return .void
        }
        let before = open[..<index].first, request = open.remove(at: index)
        return before.map { .early(request, before: $0) } ?? .due(request)
    }

    /// The attributes are gone.
    mutating func invalidate(_ subjects: Set<ObjectIdentifier>) {
        void += open.filter { $0.subject.map(subjects.contains) ?? false }
        open.removeAll { $0.subject.map(subjects.contains) ?? false }
    }

    /// The connection is over: what has not been answered, and never will be.
    mutating func end() -> [Request] {
        defer { self = RequestModel() }
        return open
    }

    /// What has waited since before `instant`.
    func overdue(since instant: Duration) -> [Request] { open.filter { $0.made < instant } }

    /// Whether a request of that kind waits.
    func isOpen(_ kind: Kind, _ subject: ObjectIdentifier) -> Bool {
        open.contains { $0.kind == kind && $0.subject == subject }
    }

    /// Judges an answer, excused if the link, or the attribute, may have gone away.
    ///
    /// - Returns: What is wrong with it, if anything.
    static func complaint(_ request: Request, _ error: (any Error)?, isExcused: Bool) -> String? {
        let code = (error as? CBATTError)?.errorCode
        let isGood =
            switch request.outcome {
            case .success: error == nil
            case .refusal(let expected): code == expected
            case .either: true
            }
        if isGood { return nil }
        let told = error.map { "\($0)" } ?? "success"
        if request.isCertain { return "\(request.kind) told \(told) instead of \(request.outcome)" }
        if error != nil, isExcused { return nil }
        return "\(request.kind) answered with \(told) instead of \(request.outcome), without a cause"
    }
}
