import BLECrypto
package import BLEWire

/// Proof that who sent a write command has a key: the last twelve octets of it.
///
/// Core 6.0, Vol 3, Part C, 10.4; Part H, 2.4.5.
package struct WriteSignature: Equatable, Sendable {
    /// Which of all writes signed with the key this is.
    package let counter: UInt32
    /// The upper 64 bits of the code of the command and the counter.
    package let code: UInt64

    /// Signs a write command.
    package init(of value: [UInt8], to handle: AttributeHandle, counter: UInt32, key: Key128) {
        let opcode = ATT.Opcode.signedWriteCommand.wire
        self.init(of: [opcode] + handle.wire.littleEndianOctets + value, counter: counter, key: key)
    }

    /// Signs a whole packet, in the order of the air and without the signature.
    package init(of packet: [UInt8], counter: UInt32, key: Key128) {
        self.counter = counter
        let message = packet + counter.littleEndianOctets
        code = UInt64(truncatingIfNeeded: CMAC.code(of: message.reversed(), key: key) >> 64)
    }

    /// The counter and then the code, as a packet carries them.
    package var octets: [UInt8] { counter.littleEndianOctets + code.littleEndianOctets }
}

extension RemoteSigning {
    /// Whether the command was signed with this key, and with a counter that was not used before, which it is then.
    package mutating func verify(_ command: ATT.SignedWriteCommand) -> Bool {
        let counter = command.signature.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard let nextCounter, nextCounter <= counter else { return false }
        let expected = WriteSignature(of: command.value, to: command.handle, counter: counter, key: key)
        guard expected.octets == command.signature else { return false }
        use(counter)
        return true
    }
}
