import BLERuntime
import BLEWire
import FoundationEssentials
import Glibc
import Testing

@Suite("Linux kernel")
struct LinuxKernelTests {
    /// The files of a kernel, in a folder that goes with it.
    private final class Tree {
        let root = FileManager.default.temporaryDirectory.path + "/kernel-" + UUID().uuidString

        func write(_ text: String, to path: String) throws {
            let url = URL(filePath: root + path)
            let folder = url.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }

        func link(_ path: String, to target: String) throws {
            let folder = URL(filePath: root + path).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try #require(symlink(target, root + path) == 0)
        }

        deinit { try? FileManager.default.removeItem(atPath: root) }
    }

    @Test("Adapters are listed in the kernel's numeric order")
    func indexes() throws {
        let tree = Tree()
        for name in ["hci10", "hci2", "hci0", "hci0:64", "rfcomm0"] {
            try tree.write("", to: "/sys/class/bluetooth/\(name)/uevent")
        }
        #expect(LinuxKernel(root: tree.root).indexes.map(\.wire) == [0, 2, 10])
    }

    @Test("An rfkill switch is read with its adapter and the kind of block")
    func switches() throws {
        let tree = Tree()
        let files = [
            ("rfkill0", "bluetooth", "hci0", "0", "0"), ("rfkill1", "bluetooth", "hci1", "1", "0"),
            ("rfkill2", "bluetooth", "tpacpi_bluetooth_sw", "1", "1"), ("rfkill3", "wlan", "phy0", "1", "1"),
        ]
        for (entry, kind, name, soft, hard) in files {
            for (file, text) in [("type", kind), ("name", name), ("soft", soft), ("hard", hard)] {
                try tree.write(text + "\n", to: "/sys/class/rfkill/\(entry)/\(file)")
            }
        }
        let kernel = LinuxKernel(root: tree.root)
        let expected = [
            RadioSwitch(name: "hci0", block: nil), RadioSwitch(name: "hci1", block: .soft),
            RadioSwitch(name: "tpacpi_bluetooth_sw", block: .hard),
        ]
        #expect(kernel.switches == expected)
        #expect(kernel.switches.map { $0.index?.wire } == [0, 1, nil])
    }

    @Test("Only programs with an HCI socket are listed")
    func holders() throws {
        let tree = Tree()
        let table = """
            sk               RefCnt Rmem   Wmem   User   Inode  Parent
            00000000e32f1b86 2      0      0      0      10158  0
            00000000790c0c85 2      0      0      0      10081  0
            nonsense
            """
        try tree.write(table, to: "/proc/net/hci")
        let processes = [
            (156, "bluetoothd", ["socket:[10081]", "/dev/null"]), (9, "node", ["socket:[10158]"]),
            (10, "other", ["socket:[1008]", "pipe:[10081]"]), (Int(getpid()), "self", ["socket:[10158]"]),
        ]
        for (process, name, files) in processes {
            try tree.write(name + "\n", to: "/proc/\(process)/comm")
            for (number, target) in files.enumerated() { try tree.link("/proc/\(process)/fd/\(number)", to: target) }
        }
        let holders = LinuxKernel(root: tree.root).holders
        #expect(holders.map(\.description) == ["node (process 9)", "bluetoothd (process 156)"])
        #expect(holders.map(\.isBlueZ) == [false, true])
    }

    @Test(
        "A program with CAP_NET_ADMIN may take adapters",
        arguments: [
            ("0000003fffffffff", true), ("0000000000001000", true), ("0000000000000000", false),
            ("fffffffffffFefff", false), ("nonsense", false),
        ]
    )
    func rights(mask: String, isPrivileged: Bool) throws {
        let tree = Tree()
        let status = "Name:\tble\nCapPrm:\t0000000000001000\nCapEff:\t\(mask)\nCapBnd:\t000001ffffffffff\n"
        try tree.write(status, to: "/proc/self/status")
        #expect(LinuxKernel(root: tree.root).isPrivileged == isPrivileged)
    }

    @Test("Without the kernel's files there are no adapters, switches or holders")
    func nothing() {
        let kernel = LinuxKernel(root: "/nowhere/at/all")
        #expect(kernel.indexes.isEmpty && kernel.switches.isEmpty && kernel.holders.isEmpty && !kernel.isPrivileged)
    }
}
