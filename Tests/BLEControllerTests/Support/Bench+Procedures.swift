import BLEController
import BLEWire

extension Bench {
    /// Both handles of a connection.
    struct Pair {
        let central: ConnectionHandle
        let peripheral: ConnectionHandle
    }

    /// The interval of all advertising here: 20 ms, the shortest that there is.
    static var interval: AdvertisingInterval { AdvertisingInterval(.milliseconds(20)) }

    mutating func advertise(
        _ board: Int,
        type: HCI.AdvertisingType = .connectable,
        data: [UInt8] = [2, 1, 6],
        response: [UInt8] = [],
        own: HCI.OwnAddress = .public,
        peer: DeviceAddress = .none,
        policy: HCI.AdvertisingFilterPolicy = .everyone
    ) {
        let parameters = HCI.LESetAdvertisingParameters(
            minimum: Self.interval,
            maximum: Self.interval,
            type: type,
            ownAddress: own,
            peer: peer,
            policy: policy
        )
        send(.leSetAdvertisingParameters(parameters), board)
        send(.leSetAdvertisingData(.init(data: data)), board)
        send(.leSetScanResponseData(.init(data: response)), board)
        send(.leSetAdvertisingEnable(.init(enable: true)), board)
    }

    mutating func scan(
        _ board: Int,
        type: HCI.ScanType = .passive,
        own: HCI.OwnAddress = .public,
        policy: HCI.ScanFilterPolicy = .everyone,
        filterDuplicates: Bool = false
    ) {
        let interval = ScanInterval(.milliseconds(10))
        let parameters = HCI.LESetScanParameters(
            type: type,
            interval: interval,
            window: interval,
            ownAddress: own,
            policy: policy
        )
        send(.leSetScanParameters(parameters), board)
        send(.leSetScanEnable(.init(enable: true, filterDuplicates: filterDuplicates)), board)
    }

    static func parameters(
        interval: UInt16 = 24,
        latency: UInt16 = 0,
        timeout: UInt16 = 100
    ) -> HCI.ConnectionParameters {
        guard let interval = ConnectionInterval(wire: interval), let latency = PeripheralLatency(wire: latency),
            let timeout = SupervisionTimeout(wire: timeout)
        else { preconditionFailure("a test asks for timing that there is not") }
        return .init(minimum: interval, maximum: interval, latency: latency, timeout: timeout)
    }

    mutating func initiate(
        _ board: Int,
        to peer: DeviceAddress?,
        own: HCI.OwnAddress = .public,
        parameters: HCI.ConnectionParameters = Bench.parameters()
    ) {
        let interval = ScanInterval(.milliseconds(10))
        let command = HCI.LECreateConnection(
            interval: interval,
            window: interval,
            policy: peer == nil ? .acceptList : .peer,
            peer: peer ?? .none,
            ownAddress: own,
            parameters: parameters
        )
        send(.leCreateConnection(command), board)
    }

    /// Connects `central` to `peripheral`, which advertises; `nil` if that takes longer than ten seconds.
    mutating func connect(
        _ central: Int,
        _ peripheral: Int,
        parameters: HCI.ConnectionParameters = Bench.parameters()
    ) -> Pair? {
        let before = (said[central].count, said[peripheral].count)
        advertise(peripheral)
        initiate(central, to: Self.address(peripheral), parameters: parameters)
        let end = now + .seconds(10)
        while now < end {
            run(for: .milliseconds(5))
            if let a = handle(central, since: before.0), let b = handle(peripheral, since: before.1) {
                return Pair(central: a, peripheral: b)
            }
        }
        return nil
    }

    private func handle(_ board: Int, since count: Int) -> ConnectionHandle? {
        for said in said[board].dropFirst(count) {
            if case .leEnhancedConnectionComplete(let event) = said.event, event.status == .success {
                return event.handle
            }
        }
        return nil
    }

    /// The reason with which `handle` ended at a board, if it did.
    func ending(_ board: Int, _ handle: ConnectionHandle) -> HCI.Status? {
        for said in said[board].reversed() {
            if case .disconnectionComplete(let event) = said.event, event.handle == handle { return event.reason }
        }
        return nil
    }

    /// Everything that arrived at a board on a connection, as one run of octets.
    func received(_ board: Int, _ handle: ConnectionHandle) -> [UInt8] {
        fragments[board].filter { $0.handle == handle }.flatMap(\.octets)
    }

    /// How many fragments the board says that the other end has.
    func completed(_ board: Int, _ handle: ConnectionHandle) -> Int {
        events(board).reduce(0) { sum, event in
            guard case .numberOfCompletedPackets(let event) = event else { return sum }
            return sum + event.completed.filter { $0.handle == handle }.reduce(0) { $0 + Int($1.count) }
        }
    }

    /// The addresses and data of all legacy reports that a board made.
    func reports(_ board: Int) -> [HCI.LEAdvertisingReport.Report] {
        events(board).flatMap { event -> [HCI.LEAdvertisingReport.Report] in
            if case .leAdvertisingReport(let event) = event { event.reports } else { [] }
        }
    }

    /// All extended reports that a board made.
    func extendedReports(_ board: Int) -> [HCI.LEExtendedAdvertisingReport.Report] {
        events(board).flatMap { event -> [HCI.LEExtendedAdvertisingReport.Report] in
            if case .leExtendedAdvertisingReport(let event) = event { event.reports } else { [] }
        }
    }
}
