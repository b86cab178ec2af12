import BLEWire

@testable import BLEHost

extension AttributeLayer {
    /// What the host keeps at `handle`, whoever may see it.
    func storedValue(at handle: AttributeHandle) -> [UInt8]? {
        if case .stored(let value)? = database.attribute(at: handle)?.content { value } else { nil }
    }
}
