import CoreBluetooth

/// A model of what Apple documents about the requests to one peripheral: each is answered once, and all in order.
struct RequestModel {
    enum Kind: String {
        case services, included, characteristics, descriptors, read, readDescriptor, write, writeDescriptor, notify
        case rssi, channel
    }

    enum Outcome: Equatable {
        case success
        /// The peripheral, or the system on its behalf, refuses the request with this code.
        case refusal(Int)
        case either
    }

    struct Request {
        var kind: Kind
        /// The service, characteristic or descriptor of the request; `nil` if it is about the peripheral itself.
        var subject: ObjectIdentifier?
        var outcome: Outcome
        /// True if the outcome is certain, because the system decides without asking the peripheral.
        var isCertain = false
        /// The number in the written value if the server records it; otherwise `nil`.
        var number: UInt64?
        var made: Duration
    }

    private var open: [Request] = []
    /// Requests about attributes that have been removed since, which may or may not be answered.
    private var void: [Request] = []

    mutating func ask(_ request: Request) { open.append(request) }

    enum Answer {
        case due(Request)
        /// The answer belongs to a request about removed attributes.
        case void
        case unasked
        case early(Request, before: Request)
    }

    /// Records the answer to the oldest request of this kind about `subject`.
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

    /// Records that attributes have been removed; requests about them may or may not be answered.
    mutating func invalidate(_ subjects: Set<ObjectIdentifier>) {
        void += open.filter { $0.subject.map(subjects.contains) ?? false }
        open.removeAll { $0.subject.map(subjects.contains) ?? false }
    }

    /// Records the end of the connection; returns the requests that have not been answered, and will not be.
    mutating func end() -> [Request] {
        defer { self = RequestModel() }
        return open
    }

    /// Returns the requests that have waited since before `instant`.
    func overdue(since instant: Duration) -> [Request] { open.filter { $0.made < instant } }

    /// Returns whether a request of this kind about `subject` waits for its answer.
    func isOpen(_ kind: Kind, _ subject: ObjectIdentifier) -> Bool {
        open.contains { $0.kind == kind && $0.subject == subject }
    }

    /// Checks the answer to a request.
    ///
    /// An unexpected error is allowed if `isExcused`, because the link or the attribute may be gone, unless the outcome
    /// of the request is certain.
    ///
    /// - Returns: A complaint if the answer is wrong; otherwise `nil`.
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
        if request.isCertain { return "\(request.kind) ended with \(told) instead of \(request.outcome)" }
        if error != nil, isExcused { return nil }
        return "\(request.kind) ended with \(told) instead of \(request.outcome), without a cause"
    }
}
