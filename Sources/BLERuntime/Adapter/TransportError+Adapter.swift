package import BLEHost
import BLEWire
import Glibc

extension TransportError {
    /// The reason why the host has no controller.
    package var absence: Host.Absence {
        switch code {
        case .forbidden: .forbidden
        case .switchedOff: .switchedOff
        case .unreachable, .closed, .garbage, .congested: .missing
        }
    }

    /// The kernel has no Bluetooth.
    static var noBluetooth: Self {
        let command = "sudo modprobe bluetooth"
        return Self(
            .unreachable,
            errno: EAFNOSUPPORT,
            "the kernel has no Bluetooth support",
            cure: """
                Load the Bluetooth module with “\(command)”; in a container, share the machine's network \
                (“--network=host”).
                """,
            command: command,
            finding: .kernelWithoutBluetooth
        )
    }

    /// The kernel has Bluetooth, but not in this program's network namespace.
    static var hiddenBluetooth: Self {
        let command = "docker run --network=host --cap-add=NET_ADMIN -e \(HostSpecification.variable)=hci:0 IMAGE"
        return Self(
            .unreachable,
            errno: EAFNOSUPPORT,
            "the kernel has Bluetooth, but not in this program's network namespace",
            cure: "Run this program in the machine's network namespace; in a container: “\(command)”.",
            command: command,
            finding: .networkOfContainer
        )
    }

    /// The kernel does not list the adapters.
    static func unlisted(_ failure: ManagementClient.Failure) -> Self {
        Self(
            .unreachable,
            "cannot list adapters: \(failure)",
            cure: "Look for the reason in the kernel's log: “dmesg | tail”.",
            command: "dmesg | tail",
            finding: .kernelSilent
        )
    }

    /// This program is not permitted to use adapters exclusively.
    static func forbidden(_ index: AdapterIndex, program: String) -> Self {
        let command = "sudo setcap cap_net_admin+ep \(program)"
        return Self(
            .forbidden,
            errno: EPERM,
            "\(program) may not use \(index == .none ? "Bluetooth adapters" : "\(index)")",
            cure: """
                Allow it with “\(command)”, or in a systemd unit with “AmbientCapabilities=CAP_NET_ADMIN”; a \
                container needs “--cap-add=NET_ADMIN”.
                """,
            command: command
        )
    }

    /// The adapter is in use by another program.
    static func held(_ index: AdapterIndex, errno: Int32, by holders: [AdapterHolder]) -> Self {
        let names = holders.map(\.description).joined(separator: ", ")
        let who = holders.isEmpty ? "another program" : names
        let isBlueZ = holders.contains(where: \.isBlueZ)
        let cure =
            isBlueZ
            ? "Release it from BlueZ with “\(bluezOff)” or “sudo systemctl stop bluetooth”."
            : "End that program, or use another adapter (“ble adapters” lists them)."
        let ending = holders.isEmpty ? nil : "kill " + holders.map { "\($0.process)" }.joined(separator: " ")
        return Self(
            .unreachable,
            errno: errno,
            "\(index) is in use by \(who)",
            cure: cure,
            command: isBlueZ ? bluezOff : ending,
            finding: isBlueZ ? .adapterUsedByBlueZ : .adapterTaken
        )
    }

    /// The adapter is in use by BlueZ, and the user has not named it, so this program does not take it.
    static func powered(_ index: AdapterIndex, by holders: [AdapterHolder]) -> Self {
        var error = held(index, errno: 0, by: holders.isEmpty ? [.kernel] : holders)
        error.cure = """
            Set \(HostSpecification.variable)=hci:\(index.wire) to take it while the app runs, or release \
            it from BlueZ with “\(bluezOff)”.
            """
        error.command = bluezOff
        error.finding = .adapterUsedByBlueZ
        return error
    }

    private static let bluezOff = "bluetoothctl power off"

    /// The adapter's radio is blocked.
    static func silenced(_ index: AdapterIndex, _ block: RadioSwitch.Block) -> Self {
        switch block {
        case .soft:
            Self(
                .switchedOff,
                errno: ERFKILL,
                "\(index) is blocked by software (rfkill)",
                cure: "Unblock it with “rfkill unblock bluetooth”.",
                command: "rfkill unblock bluetooth"
            )
        case .hard:
            Self(
                .switchedOff,
                errno: ERFKILL,
                "\(index) is blocked by a hardware switch",
                cure: "Turn Bluetooth on with that switch, with the keyboard's wireless key, or in the firmware setup.",
                finding: .adapterSwitchedOff
            )
        }
    }

    /// The adapter does not exist.
    static func missing(_ reference: AdapterReference, among indexes: [AdapterIndex]) -> Self {
        let others = indexes.map(\.description).joined(separator: ", ")
        let what =
            indexes.isEmpty
            ? "the machine has no Bluetooth adapter" : "\(reference) does not exist, only \(others)"
        let command = indexes.first.map { "export \(HostSpecification.variable)=hci:\($0.wire)" }
        let another = command.map { ", or use another adapter: “\($0)”" } ?? ""
        return Self(
            .unreachable,
            errno: ENODEV,
            what,
            cure: "Plug in \(reference), which is used as soon as it appears\(another).",
            command: command,
            finding: indexes.isEmpty ? .noAdapter : .adapterMissing
        )
    }

    /// There is no adapter.
    static var noAdapter: Self {
        Self(
            .unreachable,
            "the machine has no Bluetooth adapter",
            cure: "Plug one in; “dmesg | grep -i bluetooth” shows whether the kernel supports it and has its firmware.",
            command: "dmesg | grep -i bluetooth",
            finding: .noAdapter
        )
    }

    /// The adapter does not support LE.
    static func withoutLowEnergy(_ index: AdapterIndex) -> Self {
        Self(
            .unreachable,
            "\(index) does not support Bluetooth Low Energy",
            cure: "Use an adapter with Bluetooth 4.0 or later.",
            finding: .controllerWithoutLE
        )
    }

    /// The adapter must first be configured with its manufacturer's tool, for example because it lacks an address.
    static func unconfigured(_ index: AdapterIndex) -> Self {
        let command = "sudo btmgmt --index \(index.wire) public-addr XX:XX:XX:XX:XX:XX"
        return Self(
            .unreachable,
            "\(index) has not been configured",
            cure: "Usually it lacks an address; set one with “\(command)”.",
            command: command,
            finding: .adapterUnconfigured
        )
    }

    /// The adapter cannot be taken, for a reason that has no message of its own.
    ///
    /// `problem` is the beginning of the message, which ends with the adapter's name, such as "cannot open".
    static func unusable(_ index: AdapterIndex, errno: Int32, _ problem: String) -> Self {
        Self(
            .unreachable,
            errno: errno,
            "\(problem) \(index)",
            cure: "Look for the reason in the kernel's log: “dmesg | tail”.",
            command: "dmesg | tail",
            finding: .adapterUnusable
        )
    }
}

extension AdapterHolder {
    /// A stand-in for BlueZ's daemon if its process is unknown.
    fileprivate static let kernel = Self(process: 0, name: "BlueZ")
}
