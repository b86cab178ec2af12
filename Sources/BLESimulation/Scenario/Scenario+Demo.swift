import BLEWire

extension Scenario {
    /// A few everyday devices: a heart rate sensor, a thermometer and a lamp.
    public static let demo = Scenario(peripherals: [
        SimulatedPeripheral(
            name: "Heart Rate",
            at: World.Position(x: 1, y: 0.5),
            services: [
                .init(
                    "180D",
                    [
                        .init(
                            "2A37",
                            [.notify],
                            notifies: .init(every: .seconds(1), [72, 74, 75, 78, 77, 73].map { [0x00, $0] })
                        ),
                        .init("2A38", [.read], value: [0x01]),
                    ]
                ),
                battery(percent: 87),
                manufacturer("Example Hearts"),
            ]
        ),
        SimulatedPeripheral(
            name: "Thermometer",
            at: World.Position(x: 4, y: -2),
            services: [
                .init(
                    "181A",
                    [
                        .init(
                            "2A6E",
                            [.read, .notify],
                            value: celsius(21_50),
                            notifies: .init(every: .seconds(2), [21_50, 21_52, 21_61, 21_58].map(celsius))
                        )
                    ]
                ),
                battery(percent: 55),
                manufacturer("Example Instruments"),
            ]
        ),
        SimulatedPeripheral(
            name: "Lamp",
            at: World.Position(x: -3, y: 3),
            services: [
                .init(
                    "6C616D70-0000-4C69-6768-740000000001",
                    [
                        .init(
                            "6C616D70-0000-4C69-6768-740000000002",
                            [.read, .write, .writeWithoutResponse, .notify],
                            value: [0]
                        ),
                        .init(
                            "6C616D70-0000-4C69-6768-740000000003",
                            [.read, .write],
                            value: Array("Reading lamp".utf8)
                        ),
                    ]
                ),
                manufacturer("Example Lights"),
            ]
        ),
    ])

    private static func battery(percent: UInt8) -> SimulatedPeripheral.Service {
        .init("180F", [.init("2A19", [.read, .notify], value: [percent])], isAdvertised: false)
    }

    private static func manufacturer(_ name: String) -> SimulatedPeripheral.Service {
        .init("180A", [.init("2A29", [.read], value: Array(name.utf8))], isAdvertised: false)
    }

    /// Returns the value of a Temperature characteristic for a temperature in hundredths of a degree Celsius.
    private static func celsius(_ hundredths: Int16) -> [UInt8] {
        UInt16(bitPattern: hundredths).littleEndianOctets
    }
}
