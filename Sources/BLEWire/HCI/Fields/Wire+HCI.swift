/// A boolean field of one octet.
private struct Switch: WireField, CustomStringConvertible {
    let isOn: Bool
    init(isOn: Bool) { self.isOn = isOn }
    init?(wire: UInt8) {
        guard wire <= 1 else { return nil }
        isOn = wire == 1
    }
    var wire: UInt8 { isOn ? 1 : 0 }
    var description: String { isOn ? "on" : "off" }
}

extension Wire where Self: ~Copyable & ~Escapable {
    /// Visits a boolean octet: 1 is true, 0 is false, all other values are reserved.
    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func flag(_ value: inout Bool, _ name: StaticString) throws(PacketError) {
        var field = Switch(isOn: value)
        try self.field(&field, name)
        value = field.isOn
    }

    /// Visits a signed integer of two octets.
    @_lifetime(self: copy self)
    mutating func signed(_ value: inout Int16, _ name: StaticString) throws(PacketError) {
        var raw = UInt16(bitPattern: value)
        try integer(&raw, name)
        value = Int16(bitPattern: raw)
    }

    /// Visits the connection handle that follows a status.
    ///
    /// If the status is a failure, the handle is meaningless, so a reserved value is not rejected but replaced with the
    /// lowest handle.
    @_lifetime(self: copy self)
    @inline(__always)
    mutating func handle(_ value: inout ConnectionHandle, after status: HCI.Status) throws(PacketError) {
        var raw = Reported(value)
        try field(&raw, "Connection Handle")
        if let handle = raw.value {
            value = handle
        } else if status == .success {
            throw .reserved(field: "Connection Handle")
        } else {
            value = .lowest
        }
    }

    /// Visits a count, and advertising data of that many octets.
    @_lifetime(self: copy self)
    @inline(__always)
    mutating func advertisingData(
        _ value: inout [UInt8],
        length lengthName: StaticString,
        _ name: StaticString
    ) throws(PacketError) {
        var count = UInt8(clamping: value.count)
        try integer(&count, lengthName)
        try bytes(&value, count: Int(count), name)
        annotate(AdvertisingData(decoding: value).summary(of: value))
    }

    /// Visits a count and then `capacity` octets: as many octets of advertising data as the count says, followed by
    /// padding.
    @_lifetime(self: copy self)
    mutating func paddedAdvertisingData(
        _ value: inout [UInt8],
        capacity: Int,
        length lengthName: StaticString,
        _ name: StaticString
    ) throws(PacketError) {
        var count = UInt8(clamping: value.count)
        try integer(&count, lengthName)
        guard Int(count) <= capacity else { throw .reserved(field: lengthName) }
        var octets = value + [UInt8](repeating: 0, count: max(0, capacity - value.count))
        try bytes(&octets, count: capacity, name)
        value = Array(octets.prefix(Int(count)))
        annotate(AdvertisingData(decoding: value).summary(of: value))
    }

    /// Visits at most `limit` elements that are preceded by a 1-octet count.
    @_lifetime(self: copy self)
    @inline(__always)
    mutating func list<Element: Packet>(
        _ elements: inout [Element],
        upTo limit: Int,
        _ name: StaticString
    ) throws(PacketError) {
        var count = UInt8(clamping: elements.count)
        try integer(&count, name)
        guard Int(count) <= limit else { throw .reserved(field: name) }
        elements.reserveCapacity(Int(count))
        for index in 0..<Int(count) {
            if index == elements.count { elements.append(Element()) }
            try elements[index].layout(&self)
        }
    }
}

extension PacketDecoder {
    /// Throws unless exactly `count` octets are left; `name` is the field that the error names if there are fewer.
    @inline(__always)
    func expect(_ count: Int, _ name: StaticString) throws(PacketError) {
        if remaining < count { throw .truncated(field: name) }
        if remaining > count { throw .trailing(count: remaining - count) }
    }
}

extension AdvertisingData {
    /// Returns the structures as text; if there are none, or the data is malformed, `octets` in hexadecimal.
    fileprivate func summary(of octets: [UInt8]) -> String {
        if fault != nil || structures.isEmpty { return octets.hexadecimal }
        return dissection.fields.map { "\($0.name): \($0.text)" }.joined(separator: "; ")
    }
}
