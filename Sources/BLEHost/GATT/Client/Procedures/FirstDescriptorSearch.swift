package import BLEWire

/// A procedure that searches a characteristic for its first descriptor of a type.
///
/// Core 6.0, Vol 3, Part G, 4.7.1.
package struct FirstDescriptorSearch: Sendable {
    private let type: BluetoothUUID
    /// The range that has not been searched yet; `nil` if it is empty.
    private var rest: AttributeHandleRange?

    /// Creates a search through the descriptors of a characteristic.
    ///
    /// - Parameters:
    ///   - range: The handles after the value, up to the end of the characteristic; `nil` if there are none.
    ///   - type: The type of descriptor to search for.
    package init(in range: AttributeHandleRange?, first type: BluetoothUUID) {
        self.type = type
        rest = range
    }

    /// The descriptor that was found; `nil` if there is none.
    package typealias Outcome = Result<DiscoveredDescriptor?, Failure>

    package func begin() -> ProcedureStep<Outcome> { next }

    private var next: ProcedureStep<Outcome> {
        guard let rest else { return .finished(.success(nil)) }
        return .request(.findInformationRequest(.init(rest)))
    }

    package mutating func receive(_ answer: ATTAnswer) -> ProcedureStep<Outcome> {
        switch answer {
        case .failure(.att(.attributeNotFound)): return .finished(.success(nil))
        case .failure(let failure): return .finished(.failure(failure))
        case .success(.findInformationResponse(let response)):
            let listed = rest.map { ResponseEntries(types: response.entries, in: $0).items } ?? []
            guard let last = listed.last else { return .finished(.failure(.invalidResponse)) }
            if let found = listed.first(where: { $0.uuid == type }) { return .finished(.success(found)) }
            rest = rest?.after(last.handle)
            return next
        case .success: return .finished(.failure(.invalidResponse))
        }
    }
}
