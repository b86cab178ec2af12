package import BLEWire

/// A procedure that writes a long value with prepared writes.
///
/// The server echoes each part; then all parts are executed together.
///
///        ┌─────────┐      ┌───────────┐ last part ┌───────────┐
///        │ waiting │ ───▶ │ preparing │ ────────▶ │ executing │ ─ response ──▶ finished
///        └─────────┘      └───────────┘           └───────────┘
///                               │ rejected, wrong echo, or withdrawn
///                               ▼
///                         ┌────────────┐
///                         │ cancelling │ ─ response ──────────────────────▶ finished with the failure
///                         └────────────┘
///
/// Core 6.0, Vol 3, Part G, 4.9.4 and 4.9.5.
package struct PreparedWriting: Sendable {
    private enum State: Sendable {
        case waiting
        /// The part of `value` that starts at `index` was sent.
        case preparing(index: Int, part: [UInt8])
        case executing
        case cancelling(Failure)
    }

    private let handle: AttributeHandle
    private let value: [UInt8]
    /// The position of the first octet of `value` in the server's value.
    private let start: Int
    private var withdrawal: Failure?
    private var state = State.waiting

    /// Creates a write with prepared parts.
    ///
    /// - Parameters:
    ///   - value: The octets to write, which must end within the first 512 octets of the server's value.
    ///   - handle: The handle to write.
    ///   - start: The position of the first octet in the server's value.
    package init(_ value: [UInt8], to handle: AttributeHandle, at start: Int = 0) {
        precondition(0...ATT.maximumValueLength ~= start, "the offset must be 0 to 512")
        precondition(value.count <= ATT.maximumValueLength - start, "the value must end within 512 octets")
        self.handle = handle
        self.value = value
        self.start = start
    }

    package mutating func begin(mtu: Int) -> ProcedureStep<Failure?> { prepare(from: 0, mtu: mtu) }

    /// Cancels the prepared parts when the next response arrives; the write then fails with `failure`.
    mutating func withdraw(_ failure: Failure) { withdrawal = failure }

    package mutating func receive(_ answer: ATTAnswer, mtu: Int) -> ProcedureStep<Failure?> {
        switch (state, answer) {
        case (.preparing(let index, let part), .success(.prepareWriteResponse(let echo))):
            if let withdrawal { return cancel(withdrawal) }
            guard echo.handle == handle, Int(echo.offset) == start + index, echo.part == part else {
                return cancel(.invalidResponse)
            }
            guard index + part.count < value.count else {
                state = .executing
                return .request(.executeWriteRequest(.init(.write)))
            }
            return prepare(from: index + part.count, mtu: mtu)
        case (.preparing, .failure(let failure)): return cancel(failure)
        case (.executing, .success(.executeWriteResponse)): return .finished(nil)
        case (.executing, .failure(let failure)): return .finished(failure)
        case (.cancelling(let failure), _): return .finished(failure)
        case (.waiting, _), (.preparing, .success), (.executing, .success): return .finished(.invalidResponse)
        }
    }

    private mutating func prepare(from index: Int, mtu: Int) -> ProcedureStep<Failure?> {
        let part = [UInt8](value[index...].prefix(mtu - 5))
        state = .preparing(index: index, part: part)
        return .request(.prepareWriteRequest(.init(handle: handle, offset: UInt16(start + index), part: part)))
    }

    private mutating func cancel(_ failure: Failure) -> ProcedureStep<Failure?> {
        state = .cancelling(failure)
        return .request(.executeWriteRequest(.init(.cancel)))
    }
}
