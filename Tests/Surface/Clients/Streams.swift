import CoreBluetooth

/// Talks over a channel, as apps do on Apple's systems.
final class Talker: NSObject, StreamDelegate, CBPeripheralDelegate, CBPeripheralManagerDelegate {
    private var channel: CBL2CAPChannel?
    private(set) var received = Data()
    private var waiting = Data("hello".utf8)

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: Error?) { use(channel) }
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        if peripheral.state == .poweredOn { peripheral.publishL2CAPChannel(withEncryption: false) }
    }
    func peripheralManager(_ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: Error?) {
        if error != nil { peripheral.unpublishL2CAPChannel(PSM) }
    }
    func peripheralManager(_ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: Error?) {
    }
    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: Error?) {
        use(channel)
    }

    private func use(_ channel: CBL2CAPChannel?) {
        guard let channel = channel else { return }
        self.channel = channel
        for stream in [channel.inputStream, channel.outputStream] as [Stream] {
            stream.delegate = self
            stream.schedule(in: .main, forMode: .default)
            stream.open()
        }
        _ = (channel.psm, channel.peer.identifier, channel.peer as? CBPeripheral, channel.peer is CBCentral)
    }

    func stream(_ stream: Stream, handle event: Stream.Event) {
        switch event {
        case .hasBytesAvailable:
            guard let input = stream as? InputStream else { return }
            var buffer = [UInt8](repeating: 0, count: 1024)
            while input.hasBytesAvailable {
                let count = input.read(&buffer, maxLength: buffer.count)
                guard count > 0 else { break }
                received.append(contentsOf: buffer[..<count])
            }
        case .hasSpaceAvailable:
            let count = waiting.withUnsafeBytes { bytes -> Int in
                guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return 0 }
                return channel?.outputStream.write(start, maxLength: bytes.count) ?? 0
            }
            waiting.removeFirst(max(0, count))
        case .endEncountered, .errorOccurred:
            stream.close()
            stream.remove(from: .main, forMode: .default)
            channel = nil
        default: break
        }
    }
}
