import BLEController
import BLEWire

extension Bench {
    /// The set that tests use.
    static func set(_ wire: UInt8) -> AdvertisingHandle {
        guard let handle = AdvertisingHandle(wire: wire) else { preconditionFailure("\(wire) names no set") }
        return handle
    }

    static func parameters(
        _ set: UInt8,
        _ properties: HCI.AdvertisingProperties,
        primary: PHY = .le1M,
        secondary: PHY = .le1M,
        own: HCI.OwnAddress = .public,
        peer: DeviceAddress = .none,
        policy: HCI.AdvertisingFilterPolicy = .everyone,
        reportsScanRequests: Bool = false
    ) -> HCI.LESetExtendedAdvertisingParameters {
        .init(
            set: Self.set(set),
            properties: properties,
            minimum: .init(interval),
            maximum: .init(interval),
            ownAddress: own,
            peer: peer,
            policy: policy,
            power: TransmitPower(dBm: 4),
            primaryPHY: primary,
            secondaryPHY: secondary,
            sid: AdvertisingSID(wire: set & 0x0F),
            reportsScanRequests: reportsScanRequests
        )
    }

    /// Gives a set data in as many commands as it takes.
    mutating func setData(_ data: [UInt8], of set: UInt8, isResponse: Bool = false, _ board: Int) {
        let pieces = stride(from: 0, to: max(data.count, 1), by: 251).map {
            Array(data[$0..<min($0 + 251, data.count)])
        }
        for (index, piece) in pieces.enumerated() {
            let operation: HCI.DataOperation =
                pieces.count == 1
                ? .complete
                : index == 0 ? .first : index == pieces.count - 1 ? .last : .intermediate
            if isResponse {
                send(
                    .leSetExtendedScanResponseData(.init(set: Self.set(set), operation: operation, data: piece)),
                    board
                )
            } else {
                send(
                    .leSetExtendedAdvertisingData(.init(set: Self.set(set), operation: operation, data: piece)),
                    board
                )
            }
        }
    }

    mutating func enable(
        _ set: UInt8,
        _ board: Int,
        duration: EnableDuration = .unlimited,
        events: UInt8 = 0
    ) -> HCI.Status? {
        let entry = HCI.LESetExtendedAdvertisingEnable.Entry(
            set: Self.set(set),
            duration: duration,
            maximumEvents: events
        )
        return ask(.leSetExtendedAdvertisingEnable(.init(enable: true, sets: [entry])), board)
    }

    mutating func scanExtended(
        _ board: Int,
        type: HCI.ScanType = .passive,
        coded: Bool = false,
        own: HCI.OwnAddress = .public,
        policy: HCI.ScanFilterPolicy = .everyone,
        enable: HCI.LESetExtendedScanEnable = .init(enable: true)
    ) {
        let interval = ScanInterval(.milliseconds(10))
        let scan = HCI.LESetExtendedScanParameters.Scan(type: type, interval: interval, window: interval)
        let parameters = HCI.LESetExtendedScanParameters(
            ownAddress: own,
            policy: policy,
            le1M: scan,
            leCoded: coded ? scan : nil
        )
        send(.leSetExtendedScanParameters(parameters), board)
        send(.leSetExtendedScanEnable(enable), board)
    }

    mutating func initiateExtended(
        _ board: Int,
        to peer: DeviceAddress?,
        own: HCI.OwnAddress = .public,
        le2M: Bool = false,
        coded: Bool = false
    ) {
        let interval = ScanInterval(.milliseconds(10))
        let terms = HCI.LEExtendedCreateConnection.Initiation(
            interval: interval,
            window: interval,
            parameters: Self.parameters()
        )
        let command = HCI.LEExtendedCreateConnection(
            policy: peer == nil ? .acceptList : .peer,
            ownAddress: own,
            peer: peer ?? .none,
            le1M: terms,
            le2M: le2M ? terms : nil,
            leCoded: coded ? terms : nil
        )
        send(.leExtendedCreateConnection(command), board)
    }

    /// The whole data of each run of fragments of an address, and the status of its last fragment.
    func wholeReports(_ board: Int) -> [(data: [UInt8], status: HCI.LEExtendedAdvertisingReport.DataStatus)] {
        var whole: [(data: [UInt8], status: HCI.LEExtendedAdvertisingReport.DataStatus)] = []
        var data: [UInt8] = []
        for report in extendedReports(board) {
            data += report.data
            guard report.type.dataStatus != .incomplete else { continue }
            whole.append((data, report.type.dataStatus))
            data = []
        }
        return whole
    }
}
