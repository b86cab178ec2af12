import CoreBluetooth

/// A workload between two processes that are connected by a controller.
enum PeerWorkload: String, CaseIterable {
    case read
    case write
    case wcmd
    case notify
    case coc
    case disc

    var explanation: String {
        switch self {
        case .read: "sequential reads"
        case .write: "sequential writes with response"
        case .wcmd: "writes without response"
        case .notify: "notifications"
        case .coc: "\(PeerPlan.piece) octets through a channel"
        case .disc: "discovery of every service and characteristic"
        }
    }

    /// Returns whether this workload is measured with `mtu`, which is one of the requested `mtus`.
    ///
    /// Reads and writes with response are measured only with the first MTU. The channel, whose packets have 247 octets,
    /// is measured only with 247 or, if that was not requested, the last MTU. The other workloads are measured with
    /// every MTU.
    func isMeasured(mtu: Int, among mtus: [Int]) -> Bool {
        switch self {
        case .read, .write: mtu == mtus.first
        case .coc: mtu == (mtus.contains(247) ? 247 : mtus.last)
        case .wcmd, .notify, .disc: true
        }
    }

    /// Returns the size of a value in octets.
    func size(mtu: Int) -> Int {
        switch self {
        case .coc: PeerPlan.piece
        case .read, .write, .wcmd, .notify, .disc: mtu == 23 ? 20 : min(mtu - 3, 512)
        }
    }

    /// Runs the workload on a connection.
    ///
    /// Must be called on the client's queue.
    ///
    /// - Parameters:
    ///   - client: The connection.
    ///   - count: The number of operations.
    ///   - size: The size of a value in octets.
    ///   - done: Called with the number of successful operations.
    func run(on client: PeerClient, _ count: Int, size: Int, done: @escaping (Int) -> Void) {
        guard let peripheral = client.peripheral else { return done(0) }
        switch self {
        case .read: Self.read(client, peripheral, count, done)
        case .write: Self.write(client, peripheral, count, size, done)
        case .wcmd: Self.writeCommands(client, peripheral, count, size, done)
        case .notify: Self.notifications(client, peripheral, count, size, done)
        case .coc: Self.channel(client, peripheral, count, done)
        case .disc: Self.discover(client, count, 0, done)
        }
    }

    private static func discover(_ client: PeerClient, _ count: Int, _ found: Int, _ done: @escaping (Int) -> Void) {
        client.discover { number in
            if count > 1 { discover(client, count - 1, found + number, done) } else { done(found + number) }
        }
    }

    private static func read(
        _ client: PeerClient,
        _ peripheral: CBPeripheral,
        _ count: Int,
        _ done: @escaping (Int) -> Void
    ) {
        guard let readable = client.characteristic(PeerPlan.readable) else { return done(0) }
        var left = count, good = 0
        client.valueArrived = { characteristic in
            if characteristic.value == PeerPlan.value { good += 1 }
            left -= 1
            if left > 0 { peripheral.readValue(for: readable) } else { done(good) }
        }
        peripheral.readValue(for: readable)
    }

    private static func write(
        _ client: PeerClient,
        _ peripheral: CBPeripheral,
        _ count: Int,
        _ size: Int,
        _ done: @escaping (Int) -> Void
    ) {
        guard let writable = client.characteristic(PeerPlan.writable) else { return done(0) }
        let value = Data(count: size)
        var left = count
        client.valueWritten = {
            left -= 1
            if left > 0 { peripheral.writeValue(value, for: writable, type: .withResponse) } else { done(count) }
        }
        peripheral.writeValue(value, for: writable, type: .withResponse)
    }

    private static func writeCommands(
        _ client: PeerClient,
        _ peripheral: CBPeripheral,
        _ count: Int,
        _ size: Int,
        _ done: @escaping (Int) -> Void
    ) {
        guard let writable = client.characteristic(PeerPlan.writable),
            let control = client.characteristic(PeerPlan.control)
        else { return done(0) }
        let value = Data((0..<size).map { UInt8(truncatingIfNeeded: $0) })
        var left = count
        // The server handles this read after all commands.
        client.valueArrived = { _ in done(control.value.flatMap(PeerPlan.Counts.init)?.writes ?? 0) }
        let proceed = {
            while left > 0, peripheral.canSendWriteWithoutResponse {
                peripheral.writeValue(value, for: writable, type: .withoutResponse)
                left -= 1
            }
            guard left == 0 else { return }
            client.isReady = nil
            peripheral.readValue(for: control)
        }
        client.isReady = proceed
        client.valueWritten = {
            client.valueWritten = nil
            proceed()
        }
        peripheral.writeValue(PeerPlan.Order.reset.data, for: control, type: .withResponse)
    }

    private static func notifications(
        _ client: PeerClient,
        _ peripheral: CBPeripheral,
        _ count: Int,
        _ size: Int,
        _ done: @escaping (Int) -> Void
    ) {
        guard let control = client.characteristic(PeerPlan.control) else { return done(0) }
        var arrived = 0, good = 0
        client.valueWritten = nil
        client.valueArrived = { characteristic in
            arrived += 1
            if characteristic.value?.count == size { good += 1 }
            if arrived == count { done(good) }
        }
        peripheral.writeValue(
            PeerPlan.Order.notify(count: count, size: size).data,
            for: control,
            type: .withResponse
        )
    }

    private static func channel(
        _ client: PeerClient,
        _ peripheral: CBPeripheral,
        _ count: Int,
        _ done: @escaping (Int) -> Void
    ) {
        guard let control = client.characteristic(PeerPlan.control) else { return done(0) }
        let octets = count * PeerPlan.piece, queue = client.queue
        // Reads the count repeatedly, until all octets have arrived.
        client.valueArrived = { _ in
            let arrived = control.value.flatMap(PeerPlan.Counts.init)?.channelOctets ?? 0
            guard arrived >= octets else { return peripheral.readValue(for: control) }
            client.channel = nil
            done(arrived / PeerPlan.piece)
        }
        client.channelOpened = { channel in
            guard let channel else { return done(0) }
            let source = ChannelSource(octets: octets) {
                queue.async {
                    guard let control = client.characteristic(PeerPlan.control) else { return }
                    client.peripheral?.readValue(for: control)
                }
            }
            client.channel = (channel, source)
            source.write(channel)
        }
        client.valueWritten = {
            client.valueWritten = nil
            peripheral.openL2CAPChannel(PeerPlan.channel)
        }
        peripheral.writeValue(PeerPlan.Order.reset.data, for: control, type: .withResponse)
    }
}
