import BLECrypto
import BLEWire

extension Air {
    /// Executes the commands for keys and random numbers that do not refer to a connection; returns false for other
    /// commands.
    mutating func performKeys(_ command: HCICommandPacket, _ controller: Int) -> Bool {
        switch command {
        case .leEncrypt(let command):
            let encrypted = AESBlock.encrypt(command.plaintext.wire, key: command.key)
            complete(HCI.LEEncrypt.self, .init(status: .success, encrypted: Key128(wire: encrypted)), controller)
        case .leRand:
            let number = controllers[controller].random.next()
            complete(HCI.LERand.self, .init(status: .success, number: number), controller)
        case .leReadLocalP256PublicKey: makeKeyPair(controller)
        case .leGenerateDHKey(let command):
            generateKey(with: command.key, controllers[controller].keyPair, .leGenerateDHKey, controller)
        case .leGenerateDHKeyV2(let command):
            let pair = command.type == .debug ? .debug : controllers[controller].keyPair
            generateKey(with: command.key, pair, .leGenerateDHKeyV2, controller)
        default: return false
        }
        return true
    }

    /// Generates a P-256 key pair and reports the public key to the host.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.36.
    private mutating func makeKeyPair(_ controller: Int) {
        let pair = P256KeyPair(using: &controllers[controller].random)
        controllers[controller].keyPair = pair
        status(.success, of: .leReadLocalP256PublicKey, controller)
        emit(
            .leReadLocalP256PublicKeyComplete(.init(status: .success, key: pair.publicKey)),
            to: controller,
            at: now
        )
    }

    /// Computes a Diffie-Hellman key and reports it to the host.
    ///
    /// `pair` is the key pair of the controller, or the debug key pair. If it is `nil`, the command is rejected,
    /// because no key pair has been generated.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.37 and 7.7.65.9.
    private mutating func generateKey(
        with peer: HCI.PublicKey,
        _ pair: P256KeyPair?,
        _ opcode: HCI.Opcode,
        _ controller: Int
    ) {
        guard let pair else { return status(.commandDisallowed, of: opcode, controller) }
        status(.success, of: opcode, controller)
        let secret = pair.secret(with: peer)
        let event = HCI.LEGenerateDHKeyComplete(
            status: secret == nil ? .invalidCommandParameters : .success,
            key: secret ?? [UInt8](repeating: 0xFF, count: 32)
        )
        emit(.leGenerateDHKeyComplete(event), to: controller, at: now)
    }
}
