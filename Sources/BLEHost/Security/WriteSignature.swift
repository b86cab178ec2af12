import BLECrypto
package import BLEWire

/// The signature of a write command: its last twelve octets.
///
/// Core 6.0, Vol 3, Part C, 10.4; Part H, 2.4.5.
package struct WriteSignature: Equatable, Sendable {
    /// The signature counter.
    package let counter: UInt32
    /// The upper 64 bits of the authentication code.
    package let code: UInt64

    /// Signs the command that writes `value` to `handle`; `key` is the CSRK.
    package init(of value: [UInt8], to handle: AttributeHandle, counter: UInt32, key: Key128) {
        let opcode = ATT.Opcode.signedWriteCommand.wire
        self.init(of: [opcode] + handle.wire.littleEndianOctets + value, counter: counter, key: key)
    }

    /// Signs a packet; `key` is the CSRK.
    ///
    /// `packet` is in wire order, without the signature.
    package init(of packet: [UInt8], counter: UInt32, key: Key128) {
        self.counter = counter
        let message = packet + counter.littleEndianOctets
        code = UInt64(truncatingIfNeeded: CMAC.code(of: message.reversed(), key: key) >> 64)
    }

    /// The counter followed by the code, as in a packet.
    package var octets: [UInt8] { counter.littleEndianOctets + code.littleEndianOctets }
}

extension RemoteSigning {
    /// Returns whether a signed command is valid, and if it is, marks its counter as used.
    package mutating func verify(_ command: ATT.SignedWriteCommand) -> Bool {
        let counter = command.signature.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard let nextCounter, nextCounter <= counter else { return false }
        let expected = WriteSignature(of: command.value, to: command.handle, counter: counter, key: key)
        guard expected.octets == command.signature else { return false }
        use(counter)
        return true
    }
}
