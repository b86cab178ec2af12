package import BLEWire

/// Writes a characteristic value or descriptor: in one request if it fits, else in prepared parts.
///
///        ┌─────────┐ short            ┌─────────┐
///        │         │ ───────────────▶ │ writing │ ─ answer ────────────────▶ finished
///        │ waiting │                  └─────────┘
///        │         │ long ┌───────────┐ last part ┌───────────┐
///        └─────────┘ ───▶ │ preparing │ ────────▶ │ executing │ ─ answer ──▶ finished
///                         └───────────┘           └───────────┘
///                               │ refused, echoed wrongly, withdrawn
///                               ▼
///                         ┌────────────┐
///                         │ cancelling │ ─ answer ────────────────────────▶ finished, with the failure
///                         └────────────┘
///
/// Core 6.0, Vol 3, Part G, 4.9.3 and 4.9.4.
package struct ValueWriting: Sendable {
    private enum State: Sendable {
        case waiting
        case writing
        /// The part that begins at `offset` is with the server.
        case preparing(offset: Int, part: [UInt8])
        case executing
        case cancelling(Failure)
    }

    private let handle: AttributeHandle
    private let value: [UInt8]
    private var withdrawal: Failure?
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
        switch state {
        case .preparing, .executing, .cancelling: true
        case .waiting, .writing: false
        }
    }

    package mutating func begin(mtu: Int) -> ProcedureStep<Failure?> {
        guard value.count <= ATT.maximumValueLength else {
            return .finished(.att(.invalidAttributeValueLength))
        }
        guard value.count > mtu - 3 else {
            state = .writing
            return .request(.writeRequest(.init(handle: handle, value: value)))
        }
        return prepare(from: 0, mtu: mtu)
    }

    /// Has the server forget the parts that it holds, once it has answered.
    package mutating func withdraw(_ failure: Failure) { withdrawal = failure }

    package mutating func receive(_ answer: ATTAnswer, mtu: Int) -> ProcedureStep<Failure?> {
        switch (state, answer) {
        case (.writing, .success(.writeResponse)), (.executing, .success(.executeWriteResponse)):
            return .finished(nil)
        case (.writing, .failure(let code)), (.executing, .failure(let code)):
            return .finished(.att(code))
        case (.preparing(let offset, let part), .success(.prepareWriteResponse(let echo))):
            if let withdrawal { return cancel(withdrawal) }
            guard echo.handle == handle, Int(echo.offset) == offset, echo.part == part else {
                return cancel(.contradiction)
            }
            guard offset + part.count < value.count else {
                state = .executing
                return .request(.executeWriteRequest(.init(.write)))
            }
            return prepare(from: offset + part.count, mtu: mtu)
        case (.preparing, .failure(let code)):
            return cancel(.att(code))
        case (.cancelling(let failure), _):
            return .finished(failure)
        case (.waiting, _), (.writing, _), (.executing, _), (.preparing, _):
            return .finished(.contradiction)
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
