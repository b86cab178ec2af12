package import BLEWire

/// A procedure that reads a characteristic value or descriptor of any length.
///
/// A response that fills the packet may be incomplete, so the next part is requested until a response is shorter. If
/// the server rejects such a request because there are no more octets, or because it does not support requests for
/// parts, the value is complete.
///
/// Core 6.0, Vol 3, Part G, 4.8.1 and 4.8.3.
package struct ValueReading: Sendable {
    private let handle: AttributeHandle
    /// The maximum length of the value in the response to the last request, in octets.
    private var room = 0
    private var value: [UInt8]

    /// The error codes that show, in response to a Read Blob request, that the value is complete.
    ///
    /// A server that does not support the request has no long values.
    private static let ends: [ATT.ErrorCode] = [.attributeNotLong, .invalidOffset, .requestNotSupported]

    /// Creates a read of the value at `handle`.
    ///
    /// - Parameters:
    ///   - handle: The handle of the value.
    ///   - beginning: The part of the value that is already known.
    package init(_ handle: AttributeHandle, after beginning: [UInt8] = []) {
        self.handle = handle
        value = beginning
    }

    /// Creates a read whose first request has been sent already.
    ///
    /// The response to that request has room for `room` octets of the value.
    init(_ handle: AttributeHandle, begunWithRoom room: Int) {
        self.init(handle)
        self.room = room
    }

    package mutating func begin(mtu: Int) -> ProcedureStep<Result<[UInt8], Failure>> {
        room = mtu - 1
        return value.isEmpty ? .request(.readRequest(.init(handle: handle))) : next(mtu: mtu)
    }

    package mutating func receive(_ answer: ATTAnswer, mtu: Int) -> ProcedureStep<Result<[UInt8], Failure>> {
        switch answer {
        case .failure(.att(let code)) where !value.isEmpty && Self.ends.contains(code):
            return .finished(.success(value))
        case .failure(let failure): return .finished(.failure(failure))
        case .success(.readResponse(let response)) where value.isEmpty: return append(response.value, mtu: mtu)
        case .success(.readBlobResponse(let response)): return append(response.part, mtu: mtu)
        case .success: return .finished(.failure(.invalidResponse))
        }
    }

    /// Appends a part of the value, and returns the next step.
    ///
    /// Octets beyond the length of the response or the maximum length of an attribute are ignored.
    private mutating func append(_ part: [UInt8], mtu: Int) -> ProcedureStep<Result<[UInt8], Failure>> {
        let most = min(room, ATT.maximumValueLength - value.count)
        if value.isEmpty, part.count <= most { value = part } else { value += part.prefix(most) }
        guard part.count >= room, value.count < ATT.maximumValueLength else { return .finished(.success(value)) }
        return next(mtu: mtu)
    }

    private mutating func next(mtu: Int) -> ProcedureStep<Result<[UInt8], Failure>> {
        room = mtu - 1
        return .request(.readBlobRequest(.init(handle: handle, offset: UInt16(value.count))))
    }
}
