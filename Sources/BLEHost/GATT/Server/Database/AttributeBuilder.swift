import BLEWire

/// A builder of the attributes of one service, in the order and format of GATT.
///
/// Core 6.0, Vol 3, Part G, 3.
struct AttributeBuilder {
    private(set) var attributes: [GATTDatabase.Attribute] = []
    /// The handle of the next attribute; 0x10000 if no handles are left.
    private var next: UInt32

    init(from first: AttributeHandle) { next = UInt32(first.wire) }

    /// Continues with the attribute at `handle`, leaving the handles before it unused.
    mutating func skip(to handle: AttributeHandle) { next = UInt32(handle.wire) }

    mutating func declareService(_ uuid: BluetoothUUID, isPrimary: Bool) {
        let type = isPrimary ? GATT.primaryService : GATT.secondaryService
        append(type, .readable, .constant(uuid.attributeForm.octets))
    }

    /// Declares an included service.
    ///
    /// A 128-bit UUID is omitted from the declaration; peers read it from the service itself.
    mutating func declareInclude(_ uuid: BluetoothUUID, _ range: AttributeHandleRange) {
        var value = range.start.wire.littleEndianOctets + range.end.wire.littleEndianOctets
        if case .short(let short) = uuid.attributeForm { value += short.littleEndianOctets }
        append(GATT.include, .readable, .constant(value))
    }

    /// Declares a characteristic and returns the handle of its value.
    ///
    /// The handle is `value`, or the one after the declaration if `value` is `nil`.
    @discardableResult
    mutating func declareCharacteristic(
        _ uuid: BluetoothUUID,
        _ properties: CharacteristicProperties,
        value: AttributeHandle? = nil
    ) -> AttributeHandle {
        let value = value ?? AttributeHandle(wire: UInt16(truncatingIfNeeded: next + 1))
        let declaration = [properties.declared] + value.wire.littleEndianOctets + uuid.attributeForm.octets
        append(GATT.characteristic, .readable, .constant(declaration))
        return value
    }

    mutating func append(
        _ type: BluetoothUUID,
        _ permissions: AttributePermissions,
        _ content: GATTDatabase.Content
    ) {
        precondition(next <= UInt16.max, "a service must fit into its handle range")
        let handle = AttributeHandle(wire: UInt16(next))
        next += 1
        attributes.append(.init(handle: handle, type: type, permissions: permissions, content: content))
    }
}
