import ArgumentParser
import BLERuntime
import BLESimulation
import CoreBluetooth
import Testing

@testable import ble

@Suite("Descriptions of faults", .timeLimit(.minutes(30))) @MainActor
struct DeviceFaultTests {
    nonisolated static let valid = [
        "silence at step didReceiveRead 1", "answer after 5000 ms at every didReceiveWrite of FFA1",
        "error 14 at step didReceiveRead 2 of FFA0/FFA1#2", "value 00ff at every updateValue",
        "length 0 at step didReceiveRead 7", "length 512 after 0.5 ms at every updateValue of Battery Level",
        "drop at step updateValue 1", "repeat at every updateValue", "disconnect after 100 ms at step didConnect 1",
        "servicesChange at time 20000 ms", "stopAdvertising at every didSubscribe", "startAdvertising at time 0 ms",
        "refusePairing at time 0 ms", "forgetBonds at step didReceiveWrite 3",
    ]

    nonisolated static let invalid: [(text: String, reason: String)] = [
        ("", "does not begin with silence"), ("explode at time 1 ms", "does not begin with silence"),
        ("silence", "expected “at”"), ("silence at", "expected “at”"), ("silence at noon", "expected a moment"),
        ("silence at step fly 1", "one of didConnect"), ("silence at step didReceiveRead", "a number, 1 or greater"),
        ("silence at step didReceiveRead 0", "a number, 1 or greater"),
        ("silence at every didConnect", "this fault needs the step"),
        ("drop at every didReceiveRead", "this fault needs the step updateValue"),
        ("value 0 at every updateValue", "hexadecimal"),
        ("value 0g at every updateValue", "hexadecimal"), ("error 0 at every didReceiveRead", "1 to 255"),
        ("error 256 at every didReceiveRead", "1 to 255"), ("length 513 at every updateValue", "0 to 512"),
        ("length 99999999999999999999 at every updateValue", "0 to 512"), ("disconnect at time 1", "“time” needs"),
        ("disconnect at time -1 ms", "“time” needs"), ("disconnect at time 86400001 ms", "“time” needs"),
        ("disconnect after x ms at time 1 ms", "“after” needs"),
        ("disconnect at time 1 ms of FFA1", "“of” needs the step"),
        ("disconnect at every didConnect of FFA1", "“of” needs the step"),
        ("disconnect at time 1 ms now", "expected nothing after"),
        ("disconnect at every didReceiveRead of ", "expected nothing after"),
    ]

    @Test("A fault has a textual form", arguments: valid)
    func parses(text: String) throws { #expect("\(try DeviceFault(text))" == text) }

    @Test("A text that is not a fault is refused with the reason", arguments: invalid)
    func refuses(text: String, reason: String) {
        let error = #expect(throws: DeviceFault.Mistake.self) { try DeviceFault(text) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
        #expect(throws: (any Error).self) { try Serve.parse(["lamp.json", "--fault", text]) }
    }

    @Test("A fault counts only the steps that concern its characteristic")
    func counts() throws {
        var plan = DeviceFaultPlan(
            try [
                "error 1 at step didReceiveRead 2 of A", "error 2 at step didReceiveRead 3", "disconnect at time 1 ms",
            ].map { try DeviceFault($0) }
        )
        #expect(plan.timed.map { "\($0)" } == ["disconnect at time 1 ms"])
        let due = ["A", "B", "A", "A"].map { name in plan.reach(.didReceiveRead) { $0 == name }.map(\.kind) }
        #expect(due == [[], [], [.error(1), .error(2)], []])
        #expect(plan.reach(.didReceiveWrite) { _ in true }.isEmpty)
    }

    @Test("A fault of a characteristic that the device does not have is refused")
    func unknown() throws {
        let world = World(seed: 1)
        let device = SimulatedPeripheral(name: "Lamp", services: [])
        let served = world.machine("lamp").inhabit { DescribedPeripheral(PeripheralDescription(device)) { _ in } }
        let fault = try DeviceFault("silence at every didReceiveRead of FFB1")
        #expect(throws: CommandError.self) { try served.planFaults([fault]) }
    }
}
