package import BLEWire

/// Writes a characteristic value or descriptor: in one request if it fits, else in prepared parts.
///
///        ┌─────────┐ short  ┌─────────┐
///        │         │ ─────▶ │ writing │ ─ answer ──▶ finished
///        │ waiting │        └─────────┘
///        │         │ long   ┌─────────┐
///        └─────────┘ ─────▶ │ parted  │ ─ executed or cancelled ──▶ finished
///                           └─────────┘
///
/// Core 6.0, Vol 3, Part G, 4.9.3 and 4.9.4.
package struct ValueWriting: Sendable {
    private enum State: Sendable {
        case waiting
        case writing
        case parted(PreparedWriting)
    }

    private let handle: AttributeHandle
    private let value: [UInt8]
    private var state = State.waiting

    /// Creates the writing of a value.
    ///
    /// - Parameters:
    ///   - value: What to write, at most 512 octets.
    ///   - handle: Where to write it.
    package init(_ value: [UInt8], to handle: AttributeHandle) {
        self.handle = handle
        self.value = value
    }

    /// Creates the writing of a value whose only request has been sent.
    init(begun value: [UInt8], to handle: AttributeHandle) {
        self.init(value, to: handle)
        state = .writing
    }

    /// The same writing, not begun.
    package var anew: Self { Self(value, to: handle) }

    /// Whether parts of the value are with the server that it has not been told to write yet.
    package var holdsParts: Bool {
        if case .parted = state { true } else { false }
    }

    package mutating func begin(mtu: Int) -> ProcedureStep<Failure?> {
        guard value.count <= ATT.maximumValueLength else {
            return .finished(.att(.invalidAttributeValueLength))
        }
        guard value.count > mtu - 3 else {
            state = .writing
            return .request(.writeRequest(.init(handle: handle, value: value)))
        }
        var parts = PreparedWriting(value, to: handle)
        defer { state = .parted(parts) }
        return parts.begin(mtu: mtu)
    }

    /// Has the server forget the parts that it holds, once it has answered.
    package mutating func withdraw(_ failure: Failure) {
        guard case .parted(var parts) = state else { return }
        parts.withdraw(failure)
        state = .parted(parts)
    }

    package mutating func receive(_ answer: ATTAnswer, mtu: Int) -> ProcedureStep<Failure?> {
        switch (state, answer) {
        case (.writing, .success(.writeResponse)): return .finished(nil)
        case (.writing, .failure(let failure)): return .finished(failure)
        case (.parted(var parts), _):
            defer { state = .parted(parts) }
            return parts.receive(answer, mtu: mtu)
        case (.waiting, _), (.writing, _): return .finished(.invalidResponse)
        }
    }
}
