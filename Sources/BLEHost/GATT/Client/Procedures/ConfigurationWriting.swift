package import BLEWire

/// A procedure that writes a Client Characteristic Configuration, after searching for the descriptor if necessary.
///
///        ┌──────────┐ written
///        │ guessing │ ───────────────────▶ finished
///        └──────────┘
///              │ the peer cannot write it
///              ▼
///        ┌──────────┐ found ┌─────────┐
///        │ finding  │ ────▶ │ writing │ ─ response ─▶ finished
///        └──────────┘       └─────────┘
///              │ not found
///              ▼
///        finished with Attribute Not Found
///
/// A characteristic that can notify or indicate has this descriptor. If the characteristic has only one descriptor, no
/// search is necessary, which saves two connection intervals.
///
/// Core 6.0, Vol 3, Part G, 3.3.3.3 and 4.10.
package struct ConfigurationWriting: Sendable {
    /// The result: the descriptor's handle if it was found, the value that was to be written, and the failure, if any.
    package struct Outcome: Equatable, Sendable {
        package let configuration: AttributeHandle?
        package let bits: UInt16
        package let failure: Failure?
    }

    /// The location of the descriptor, as far as it is known.
    package enum Place: Equatable, Sendable {
        /// The descriptor has this handle.
        case known(AttributeHandle)
        /// The descriptor must be searched for in this range of the characteristic; `nil` if the characteristic has no
        /// descriptors.
        case searched(AttributeHandleRange?)
        /// The characteristic has only one descriptor, at this handle. Its type was not read, but it must be the Client
        /// Characteristic Configuration.
        case only(AttributeHandle)
    }

    private enum State: Sendable {
        /// The descriptor is being written although its type was not read.
        case guessing(AttributeHandle)
        case finding(FirstDescriptorSearch)
        case writing(AttributeHandle)
    }

    /// The errors that a peer may send if the attribute at the guessed handle is not the Client Characteristic
    /// Configuration.
    private static let wrongHandleErrors: [ATT.ErrorCode] = [
        .invalidHandle, .writeNotPermitted, .attributeNotFound, .invalidAttributeValueLength, .requestNotSupported,
    ]

    private let bits: UInt16
    private var state: State

    /// Creates a procedure that writes `bits` to the descriptor at `place`.
    package init(_ bits: UInt16, to place: Place) {
        self.bits = bits
        state =
            switch place {
            case .known(let handle): .writing(handle)
            case .only(let handle): .guessing(handle)
            case .searched(let range): .finding(Self.search(in: range))
            }
    }

    private static func search(in range: AttributeHandleRange?) -> FirstDescriptorSearch {
        FirstDescriptorSearch(in: range, first: GATT.clientConfiguration)
    }

    /// True while the procedure searches for the descriptor.
    package var isFinding: Bool {
        switch state {
        case .finding: true
        case .guessing, .writing: false
        }
    }

    package mutating func begin() -> ProcedureStep<Outcome> {
        switch state {
        case .finding(let discovery): proceed(with: discovery, discovery.begin())
        case .writing(let handle), .guessing(let handle): request(handle)
        }
    }

    package mutating func receive(_ answer: ATTAnswer) -> ProcedureStep<Outcome> {
        switch (state, answer) {
        case (.guessing(let handle), .failure(.att(let code))) where Self.wrongHandleErrors.contains(code):
            let discovery = Self.search(in: AttributeHandleRange(handle))
            return proceed(with: discovery, discovery.begin())
        case (.finding(var discovery), _):
            let step = discovery.receive(answer)
            return proceed(with: discovery, step)
        case (.writing(let handle), .success(.writeResponse)), (.guessing(let handle), .success(.writeResponse)):
            return .finished(Outcome(configuration: handle, bits: bits, failure: nil))
        case (.writing(let handle), .failure(let failure)), (.guessing(let handle), .failure(let failure)):
            return .finished(Outcome(configuration: handle, bits: bits, failure: failure))
        case (.writing(let handle), .success), (.guessing(let handle), .success):
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
        return request(handle)
    }

    private func request(_ handle: AttributeHandle) -> ProcedureStep<Outcome> {
        .request(.writeRequest(.init(handle: handle, value: bits.littleEndianOctets)))
    }
}
