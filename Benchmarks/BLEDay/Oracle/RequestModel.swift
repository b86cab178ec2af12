import CoreBluetooth

/// What Apple documents of the requests to one peripheral: each is answered once, and those of a kind in order.
struct RequestModel {
    enum Kind: String {
        case services, included, characteristics, descriptors, read, readDescriptor, write, writeDescriptor, notify
        case rssi, channel
    }

    /// What is answered in order among itself.
    enum Lane {
        /// The peripheral's attributes.
        case attributes
        case rssi, channels
        /// Nobody needs to be asked: answered at once, before what is under way.
        case immediate
        /// Either that or the attributes: of two requests that look alike, one was answered, and which is unknown.
        case unknown
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
        var lane: Lane
        var outcome: Outcome
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
    ///
    /// Of several requests that it may be the answer to, it is taken for that of the one which it fits best.
    mutating func answer(_ kind: Kind, _ subject: ObjectIdentifier?, _ error: (any Error)?) -> Answer {
        let matches = { (request: Request) in request.kind == kind && request.subject == subject }
        let candidates = open.indices.filter { matches(open[$0]) }
        let due = candidates.filter { earlier(than: $0) == nil }
        let fitting = due.first { Self.complaint(open[$0], error, isExcused: false) == nil }
        // What is told at once is told as foreseen, so anything else is told of another.
        let asked = due.first { open[$0].lane != .immediate }
        guard let index = fitting ?? asked ?? due.first ?? candidates.first else {
            guard let index = void.firstIndex(where: matches) else { return .unasked }
            void.remove(at: index)
            return .void
        }
        for twin in candidates where open[twin].lane != open[index].lane { open[twin].lane = .unknown }
        let before = earlier(than: index), request = open.remove(at: index)
        return before.map { .early(request, before: $0) } ?? .due(request)
    }

    /// What must be answered before the request at `index`.
    private func earlier(than index: Int) -> Request? {
        switch open[index].lane {
        case .immediate, .unknown: nil
        case .attributes, .rssi, .channels: open[..<index].first { $0.lane == open[index].lane }
        }
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

    /// How many characteristics' requests of a kind wait.
    func count(_ kind: Kind, _ subject: ObjectIdentifier) -> Int {
        open.count { $0.kind == kind && $0.subject == subject && $0.lane == .attributes }
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
        if request.lane == .immediate { return "\(request.kind) told \(told) instead of \(request.outcome)" }
        if error != nil, isExcused { return nil }
        return "\(request.kind) answered with \(told) instead of \(request.outcome), without a cause"
    }
}
