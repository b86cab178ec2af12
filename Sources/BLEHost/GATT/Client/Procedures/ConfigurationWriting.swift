package import BLEWire

/// A procedure that writes a Client Characteristic Configuration, after searching for the descriptor if necessary.
///
///        ┌──────────┐ found ┌─────────┐
///        │ finding  │ ────▶ │ writing │ ─ response ─▶ finished
///        └──────────┘       └─────────┘
///              │ not found
///              ▼
///        finished with Attribute Not Found
///
/// Core 6.0, Vol 3, Part G, 3.3.3.3 and 4.10.
package struct ConfigurationWriting: Sendable {
    /// The descriptor's handle if it was found, the value to write, and the failure if there was one.
    package struct Outcome: Equatable, Sendable {
        package let configuration: AttributeHandle?
        package let bits: UInt16
        package let failure: Failure?
    }

    private enum State: Sendable {
        case finding(FirstDescriptorSearch)
        case writing(AttributeHandle)
    }

    private let bits: UInt16
    private var state: State

    /// Creates a procedure that writes `bits`.
    ///
    /// - Parameters:
    ///   - bits: The value to write.
    ///   - configuration: The handle of the descriptor; `nil` if it has to be searched for.
    ///   - range: The handles of the characteristic's descriptors; `nil` if it has none.
    package init(_ bits: UInt16, to configuration: AttributeHandle?, in range: AttributeHandleRange?) {
        self.bits = bits
        state =
            configuration.map { .writing($0) }
            ?? .finding(FirstDescriptorSearch(in: range, first: GATT.clientConfiguration))
    }

    /// True while the procedure searches for the descriptor.
    package var isFinding: Bool {
        switch state {
        case .finding: true
        case .writing: false
        }
    }

    package mutating func begin() -> ProcedureStep<Outcome> {
        switch state {
        case .finding(let discovery): proceed(with: discovery, discovery.begin())
        case .writing(let handle): write(handle)
        }
    }

    package mutating func receive(_ answer: ATTAnswer) -> ProcedureStep<Outcome> {
        switch (state, answer) {
        case (.finding(var discovery), _):
            let step = discovery.receive(answer)
            return proceed(with: discovery, step)
        case (.writing(let handle), .success(.writeResponse)):
            return .finished(Outcome(configuration: handle, bits: bits, failure: nil))
        case (.writing(let handle), .failure(let failure)):
            return .finished(Outcome(configuration: handle, bits: bits, failure: failure))
        case (.writing(let handle), .success):
            return .finished(Outcome(configuration: handle, bits: bits, failure: .invalidResponse))
        }
    }

    private mutating func proceed(
        with discovery: FirstDescriptorSearch,
        _ step: ProcedureStep<FirstDescriptorSearch.Outcome>
    ) -> ProcedureStep<Outcome> {
        switch step {
        case .request(let packet):
            state = .finding(discovery)
            return .request(packet)
        case .finished(.success(let descriptor)):
            guard let descriptor else {
                return .finished(Outcome(configuration: nil, bits: bits, failure: .att(.attributeNotFound)))
            }
            return write(descriptor.handle)
        case .finished(.failure(let failure)):
            return .finished(Outcome(configuration: nil, bits: bits, failure: failure))
        }
    }

    private mutating func write(_ handle: AttributeHandle) -> ProcedureStep<Outcome> {
        state = .writing(handle)
        return .request(.writeRequest(.init(handle: handle, value: bits.littleEndianOctets)))
    }
}
