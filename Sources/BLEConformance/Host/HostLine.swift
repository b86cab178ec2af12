/// A line that `host` prints: an answer or an event.
struct HostLine: Encodable, Equatable, Sendable {
    /// A JSON value in a line.
    enum Value: Encodable, Equatable, Sendable {
        case number(Int), text(String), flag(Bool), none
        case list([Value])
        case object([String: Value])

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .number(let number): try container.encode(number)
            case .text(let text): try container.encode(text)
            case .flag(let flag): try container.encode(flag)
            case .none: try container.encodeNil()
            case .list(let values): try container.encode(values)
            case .object(let values): try container.encode(values)
            }
        }
    }

    private enum Content: Equatable {
        case result(Int, [String: Value])
        case failure(Int?, String)
        case event([String: Value])
    }

    private enum Key: String, CodingKey { case id, result, error }

    private let content: Content

    /// Returns the line with the result of a request.
    static func result(_ id: Int, _ result: [String: Value] = [:]) -> Self { Self(content: .result(id, result)) }

    /// Returns the line that reports the failure of a request; the number is `nil` if it could not be read.
    static func failure(_ id: Int?, _ reason: String) -> Self { Self(content: .failure(id, reason)) }

    /// Returns the line that reports an event.
    static func event(_ name: String, _ values: [String: Value]) -> Self {
        Self(content: .event(values.merging(["event": .text(name)]) { $1 }))
    }

    func encode(to encoder: any Encoder) throws {
        if case .event(let values) = content { return try values.encode(to: encoder) }
        var container = encoder.container(keyedBy: Key.self)
        switch content {
        case .result(let id, let result):
            try container.encode(id, forKey: .id)
            try container.encode(result, forKey: .result)
        case .failure(let id, let reason):
            try container.encode(id, forKey: .id)
            try container.encode(reason, forKey: .error)
        case .event: break
        }
    }
}
