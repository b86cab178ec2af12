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
        /// The part that starts at `offset` was sent.
        case preparing(offset: Int, part: [UInt8])
        case executing
        case cancelling(Failure)
    }

    private let handle: AttributeHandle
    private let value: [UInt8]
    private var withdrawal: Failure?
    private var state = State.waiting

    /// Creates a write of a value of at most 512 octets.
    package init(_ value: [UInt8], to handle: AttributeHandle) {
        precondition(value.count <= ATT.maximumValueLength, "the value is too long")
        self.handle = handle
        self.value = value
    }

    package mutating func begin(mtu: Int) -> ProcedureStep<Failure?> { prepare(from: 0, mtu: mtu) }

    /// Cancels the prepared parts when the next response arrives; the write then fails with `failure`.
    mutating func withdraw(_ failure: Failure) { withdrawal = failure }

    package mutating func receive(_ answer: ATTAnswer, mtu: Int) -> ProcedureStep<Failure?> {
        switch (state, answer) {
        case (.preparing(let offset, let part), .success(.prepareWriteResponse(let echo))):
            if let withdrawal { return cancel(withdrawal) }
            guard echo.handle == handle, Int(echo.offset) == offset, echo.part == part else {
                return cancel(.invalidResponse)
            }
            guard offset + part.count < value.count else {
                state = .executing
                return .request(.executeWriteRequest(.init(.write)))
            }
            return prepare(from: offset + part.count, mtu: mtu)
        case (.preparing, .failure(let failure)): return cancel(failure)
        case (.executing, .success(.executeWriteResponse)): return .finished(nil)
        case (.executing, .failure(let failure)): return .finished(failure)
        case (.cancelling(let failure), _): return .finished(failure)
        case (.waiting, _), (.preparing, .success), (.executing, .success): return .finished(.invalidResponse)
        }
    }

    private mutating func prepare(from offset: Int, mtu: Int) -> ProcedureStep<Failure?> {
        let part = [UInt8](value[offset...].prefix(mtu - 5))
        state = .preparing(offset: offset, part: part)
        return .request(.prepareWriteRequest(.init(handle: handle, offset: UInt16(offset), part: part)))
    }

    private mutating func cancel(_ failure: Failure) -> ProcedureStep<Failure?> {
        state = .cancelling(failure)
        return .request(.executeWriteRequest(.init(.cancel)))
    }
}
