package import BLEWire

/// Finds the descriptors of a characteristic, or the one of a given type.
///
/// Core 6.0, Vol 3, Part G, 4.7.1.
package struct DescriptorDiscovery: Sendable {
    private let type: BluetoothUUID?
    /// What is still to be searched; `nil` if nothing is.
    private var rest: AttributeHandleRange?
    private var found: [DiscoveredDescriptor] = []

    /// Creates a search of what follows a characteristic value.
    ///
    /// - Parameters:
    ///   - range: From behind the value to the end of the characteristic; `nil` if nothing follows.
    ///   - type: The only type that is wanted: the search ends with the first of it.
    package init(in range: AttributeHandleRange?, first type: BluetoothUUID? = nil) {
        self.type = type
        rest = range
    }

    package func begin() -> ProcedureStep<Found<DiscoveredDescriptor>> { next }

    private var next: ProcedureStep<Found<DiscoveredDescriptor>> {
        guard let rest else { return finished }
        return .request(.findInformationRequest(.init(rest)))
    }

    package mutating func receive(_ answer: ATTAnswer) -> ProcedureStep<Found<DiscoveredDescriptor>> {
        switch answer {
        case .failure(.attributeNotFound): return finished
        case .failure(let code): return .finished(.failure(.att(code)))
        case .success(.findInformationResponse(let response)):
            let listed = rest.map { Listing(types: response.entries, in: $0).items } ?? []
            guard let last = listed.last else { return .finished(.failure(.contradiction)) }
            found += listed
            if listed.contains(where: { $0.uuid == type }) { return finished }
            rest = rest?.after(last.handle)
            return next
        case .success: return .finished(.failure(.contradiction))
        }
    }

    private var finished: ProcedureStep<Found<DiscoveredDescriptor>> {
        .finished(.success(type == nil ? found : found.filter { $0.uuid == type }))
    }
}
