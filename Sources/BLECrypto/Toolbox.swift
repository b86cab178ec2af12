package import BLEWire

/// The cryptographic functions of pairing.
///
/// 128-bit numbers are ``Key128``. Coordinates of points and 256-bit secrets are 32 octets in wire order, least
/// significant first.
///
/// Core 6.0, Vol 3, Part H, 2.2.
package enum Toolbox {
    /// Computes the confirm value of legacy pairing, `c1`.
    ///
    /// - Parameters:
    ///   - key: The temporary key.
    ///   - random: The random value that the device commits to.
    ///   - request: The seven octets of the Pairing Request.
    ///   - response: The seven octets of the Pairing Response.
    ///   - initiator: The address that the initiator uses on the link.
    ///   - responder: The address that the responder uses on the link.
    /// - Returns: The confirm value, which is sent before the random value.
    ///
    /// Core 6.0, Vol 3, Part H, 2.2.3.
    package static func c1(
        _ key: Key128,
        random: Key128,
        request: [UInt8],
        response: [UInt8],
        initiator: DeviceAddress,
        responder: DeviceAddress
    ) -> Key128 {
        precondition(request.count == 7 && response.count == 7, "Pairing Requests and Pairing Responses have 7 octets")
        let kinds = [responder, initiator].map(\.onAir.kind.wire)
        let p1 = UInt128(bigEndianOctets: response.reversed() + request.reversed() + kinds)
        let p2 = UInt128(initiator.value) << 48 | UInt128(responder.value)
        let inner = AESBlock.encrypt(random.wire ^ p1, key: key)
        return Key128(wire: AESBlock.encrypt(inner ^ p2, key: key))
    }

    /// Computes the short-term key of legacy pairing, `s1`.
    ///
    /// `key` is the temporary key, `first` the responder's random value, and `second` the initiator's.
    ///
    /// Core 6.0, Vol 3, Part H, 2.2.4.
    package static func s1(_ key: Key128, _ first: Key128, _ second: Key128) -> Key128 {
        let block = first.wire << 64 | second.wire & UInt128(UInt64.max)
        return Key128(wire: AESBlock.encrypt(block, key: key))
    }

    /// Computes the confirm value of LE Secure Connections, `f4`.
    ///
    /// - Parameters:
    ///   - u: The X coordinate of the public key of the device that sends the value.
    ///   - v: The X coordinate of the public key of the other device.
    ///   - x: The random value that the device commits to.
    ///   - z: In passkey entry, 0x80 plus one bit of the passkey; otherwise 0.
    /// - Returns: The confirm value, which is sent before the random value.
    ///
    /// Core 6.0, Vol 3, Part H, 2.2.6.
    package static func f4(_ u: [UInt8], _ v: [UInt8], _ x: Key128, _ z: UInt8) -> Key128 {
        Key128(wire: CMAC.code(of: coordinate(u) + coordinate(v) + [z], key: x))
    }

    /// Derives two keys from the Diffie-Hellman key, `f5`: the MacKey (`check`) and the LTK (`link`).
    ///
    /// `first` holds the random value and the address of the initiator, `second` those of the responder.
    ///
    /// Core 6.0, Vol 3, Part H, 2.2.7.
    package static func f5(
        _ secret: [UInt8],
        _ first: (random: Key128, address: DeviceAddress),
        _ second: (random: Key128, address: DeviceAddress)
    ) -> (check: Key128, link: Key128) {
        let key = Key128(wire: CMAC.code(of: coordinate(secret), key: salt))
        let numbers = first.random.wire.bigEndianOctets + second.random.wire.bigEndianOctets
        let message = Array("btle".utf8) + numbers + octets(first.address) + octets(second.address) + [0x01, 0x00]
        let keys = (UInt8(0)...1).map { Key128(wire: CMAC.code(of: [$0] + message, key: key)) }
        return (keys[0], keys[1])
    }

    /// Computes the check value by which the devices verify that they have the same Diffie-Hellman key, `f6`.
    ///
    /// `key` is the MacKey from ``f5(_:_:_:)``. `first` holds the random value and the address of the sender, `second`
    /// those of the other device. `r` is the passkey, the out-of-band random value, or 0. `capabilities` are the
    /// sender's IO capability, OOB flag and AuthReq, in wire order.
    ///
    /// Core 6.0, Vol 3, Part H, 2.2.8.
    package static func f6(
        _ key: Key128,
        _ first: (random: Key128, address: DeviceAddress),
        _ second: (random: Key128, address: DeviceAddress),
        r: Key128,
        capabilities: [UInt8]
    ) -> Key128 {
        precondition(capabilities.count == 3, "the IO capabilities of a device have 3 octets")
        let numbers = [first.random, second.random, r].flatMap(\.wire.bigEndianOctets)
        let message = numbers + capabilities.reversed() + octets(first.address) + octets(second.address)
        return Key128(wire: CMAC.code(of: message, key: key))
    }

    /// Computes the number that users compare in numeric comparison, `g2`, from 0 to 999999.
    ///
    /// `u` and `x` are the X coordinate and the random value of the initiator, `v` and `y` those of the responder.
    ///
    /// Core 6.0, Vol 3, Part H, 2.2.9 and 2.3.5.6.2.
    package static func g2(_ u: [UInt8], _ v: [UInt8], _ x: Key128, _ y: Key128) -> UInt32 {
        let code = CMAC.code(of: coordinate(u) + coordinate(v) + y.wire.bigEndianOctets, key: x)
        return UInt32(truncatingIfNeeded: code) % 1_000_000
    }

    /// Converts a key into a key for another purpose, `h6`.
    ///
    /// `identifier` is the key ID, which stands for the purpose.
    ///
    /// Core 6.0, Vol 3, Part H, 2.2.10.
    package static func h6(_ key: Key128, identifier: UInt32) -> Key128 {
        Key128(wire: CMAC.code(of: identifier.littleEndianOctets.reversed(), key: key))
    }

    /// Converts a key into a key for another purpose, `h7`.
    ///
    /// `salt` stands for the purpose.
    ///
    /// Core 6.0, Vol 3, Part H, 2.2.11.
    package static func h7(salt: Key128, _ key: Key128) -> Key128 {
        Key128(wire: CMAC.code(of: key.wire.bigEndianOctets, key: salt))
    }

    private static let salt = Key128(wire: 0x6C88_8391_AAF5_A538_6037_0BDB_5A60_83BE)

    /// Returns a 256-bit number in the octet order of CMAC, most significant first.
    private static func coordinate(_ octets: [UInt8]) -> [UInt8] {
        precondition(octets.count == 32, "a coordinate has 32 octets")
        return octets.reversed()
    }

    /// Returns the kind of an address, followed by its six octets, most significant first.
    private static func octets(_ address: DeviceAddress) -> [UInt8] {
        let plain = address.onAir
        return [plain.kind.wire] + plain.value.littleEndianOctets.prefix(6).reversed()
    }
}
