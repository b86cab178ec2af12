import BLEController
import BLERuntime
import BLEWire

@testable import BLESimulation

/// A controller without a host, which advertises what a test puts on the air, octet by octet.
struct Beacon {
    private let world: World
    private let controller: ControllerID

    /// Puts a beacon into a world that has a machine already.
    init(in world: World, address: UInt64 = 0x00_00_5E_00_53_01) {
        self.world = world
        let identity = ControllerIdentity(
            address: DeviceAddress(address, .public),
            position: Position(World.Position(x: 1))
        )
        controller = world.core.withLock { core in
            let controller = core.air.add(identity)
            // Nobody hears what the controller says: the machine that it counts for has another one.
            core.owners.append(0)
            return controller
        }
    }

    /// Advertises these octets from now on.
    func advertise(_ data: [UInt8], response: [UInt8] = [], _ type: HCI.AdvertisingType = .connectable) {
        let interval = AdvertisingInterval(.milliseconds(100))
        let commands: [HCICommandPacket] = [
            .leSetAdvertisingEnable(.init(enable: false)),
            .leSetAdvertisingParameters(.init(minimum: interval, maximum: interval, type: type)),
            .leSetAdvertisingData(.init(data: data)),
            .leSetScanResponseData(.init(data: response)),
            .leSetAdvertisingEnable(.init(enable: true)),
        ]
        world.core.withLock { core in
            for command in commands { core.air.receive(command.encoded.span, from: controller, at: core.now) }
        }
    }
}
