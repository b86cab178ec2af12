package import BLEWire

/// A procedure that writes a characteristic value or descriptor: in one request if it fits and begins at the first
/// octet, otherwise with prepared writes.
///
///        ┌─────────┐ short  ┌─────────┐
///        │         │ ─────▶ │ writing │ ─ response ──▶ finished
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
    private let start: Int
    private var state = State.waiting

    /// Creates a write of a value.
    ///
    /// - Parameters:
    ///   - value: The octets to write. The write fails if they do not end within the first 512 of the server's value.
    ///   - handle: The handle to write.
    ///   - start: The position of the first octet in the server's value.
    package init(_ value: [UInt8], to handle: AttributeHandle, at start: Int = 0) {
        self.handle = handle
        self.value = value
        self.start = start
    }

    /// Creates a write whose only request has been sent already.
    init(begun value: [UInt8], to handle: AttributeHandle) {
        self.init(value, to: handle)
        state = .writing
    }

    /// A new write of the same value.
    package var restarted: Self { Self(value, to: handle, at: start) }

    /// True if the server may hold prepared parts that have been neither executed nor cancelled.
    package var holdsParts: Bool {
        if case .parted = state { true } else { false }
    }

    package mutating func begin(mtu: Int) -> ProcedureStep<Failure?> {
        guard 0...ATT.maximumValueLength ~= start else { return .finished(.att(.invalidOffset)) }
        guard value.count <= ATT.maximumValueLength - start else {
            return .finished(.att(.invalidAttributeValueLength))
        }
        guard start > 0 || value.count > mtu - 3 else {
            state = .writing
            return .request(.writeRequest(.init(handle: handle, value: value)))
        }
        var parts = PreparedWriting(value, to: handle, at: start)
        defer { state = .parted(parts) }
        return parts.begin(mtu: mtu)
    }

    /// Cancels a long write when the next response arrives; the write then fails with `failure`.
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
