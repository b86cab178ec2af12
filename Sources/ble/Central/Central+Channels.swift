import CoreBluetooth

extension Central {
    /// Opens a channel to a connected peripheral.
    func openChannel(_ psm: CBL2CAPPSM, to peripheral: CBPeripheral) async throws -> CBL2CAPChannel {
        var opened: CBL2CAPChannel?
        let what = "Opening a channel to PSM \(psm)"
        try await ask(peripheral, what, { peripheral.openL2CAPChannel(psm) }) {
            guard case .channelOpened(let channel, let error) = $0 else { return nil }
            opened = channel
            return .some(error)
        }
        guard let opened else { preconditionFailure("a channel that was opened without an error exists") }
        return opened
    }

    /// Reads the PSM that a peripheral publishes in its L2CAP PSM characteristic.
    func psm(of peripheral: CBPeripheral) async throws -> CBL2CAPPSM {
        let found: CBCharacteristic
        do {
            found = try await characteristic(ChannelServer.characteristic, of: peripheral)
        } catch CommandError.noCharacteristic {
            throw CommandError.noPSM(peripheral.title)
        }
        let value = [UInt8](try await read(found, of: peripheral))
        guard value.count == 2 else { throw CommandError.noPSM(peripheral.title) }
        return CBL2CAPPSM(value[0]) | CBL2CAPPSM(value[1]) << 8
    }
}
