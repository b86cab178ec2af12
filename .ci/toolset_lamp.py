"""The package with words of Objective-C that toolset.py writes and builds."""

LAMP = {
    "Lamp/Package.swift": """// swift-tools-version: 5.9
import PackageDescription
let package = Package(
    name: "Lamp", targets: [.target(name: "Lamp"), .testTarget(name: "LampTests", dependencies: ["Lamp"])]
)
""",
    "Lamp/Sources/Lamp/Lamp.swift": """
import CoreBluetooth

@objc public protocol LampDelegate {
    func lamp(_ lamp: Lamp, turned isOn: Bool)
    @objc optional func lamp(_ lamp: Lamp, mayTurn isOn: Bool) -> Bool
    @objc optional func lampStopped()
}

@objcMembers public class Lamp: NSObject {
    public weak var delegate: LampDelegate?
    @objc dynamic public private(set) var isOn = false

    /// The brightness; computed, and observed by the lamp itself.
    @objc public dynamic var level: Int? {
        get { stored }
        set { stored = newValue }
    }
    private var stored: Int?
    public private(set) var dimmed = 0
    private var observation: NSKeyValueObservation?

    public override init() {
        super.init()
        observation = observe(\\.level, options: [.old, .new]) { lamp, change in
            if change.oldValue == 3, change.newValue == .some(nil) { lamp.dimmed += 1 }
        }
    }

    deinit { turn(false) }

    public func blink() {
        Timer.scheduledTimer(
            timeInterval: 0.001, target: self, selector: #selector(tick(_:)), userInfo: "on", repeats: false)
    }
    @objc private func tick(_ timer: Timer) { turn(timer.userInfo as? String == "on") }

    public func turn(_ isOn: Bool) {
        guard delegate?.lamp?(self, mayTurn: isOn) ?? true else { return }
        self.isOn = isOn
        delegate?.lamp(self, turned: isOn)
    }

    public func listen() {
        NotificationCenter.default.addObserver(self, selector: #selector(reset), name: .init("reset"), object: nil)
    }
    @objc func reset(_ notification: Notification) { turn(false) }
    public func stop() -> Bool {
        NotificationCenter.default.removeObserver(self)
        return delegate?.lampStopped?() != nil
    }
}
""",
    "Lamp/Sources/Lamp/Lamp+Description.swift": """
extension Lamp {
    open override var description: String { "a lamp" }
}
""",
    "Lamp/Tests/LampTests/LampTests.swift": """
import BLESimulation
import Combine
import CoreBluetooth
import Lamp
import Testing

private final class Listener: NSObject, LampDelegate {
    var states: [Bool] = []
    func lamp(_ lamp: Lamp, turned isOn: Bool) { states.append(isOn) }
    func lampStopped() {}
}

private final class Guard: NSObject, LampDelegate {
    func lamp(_ lamp: Lamp, turned isOn: Bool) {}
    @objc func lamp(_ lamp: Lamp, mayTurn isOn: Bool) -> Bool { false }
}

private final class Room: NSObject {
    @objc dynamic var lamp: Lamp? = Lamp()
    func watch(_ handler: @escaping @Sendable (Bool?) -> Void) -> NSKeyValueObservation? {
        observe(\\.lamp?.isOn, options: .new) { _, change in handler(change.newValue ?? nil) }
    }
}

@MainActor @Suite struct LampTests {
    @Test func selectors() {
        let lamp = Lamp(), listener = Listener()
        lamp.delegate = listener
        lamp.blink()
        while !lamp.isOn { _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01)) }
        lamp.listen()
        NotificationCenter.default.post(name: .init("reset"), object: nil)
        #expect(lamp.stop())
        NotificationCenter.default.post(name: .init("reset"), object: nil)
        #expect(listener.states == [true, false])
        lamp.perform(#selector(Lamp.turn(_:)), with: true)
        #expect(lamp.isOn && lamp.responds(to: #selector(Lamp.turn(_:))))
    }

    @Test func optionalMethods() {
        let lamp = Lamp(), refusal = Guard()
        lamp.delegate = refusal
        lamp.turn(true)
        #expect(!lamp.isOn && !lamp.stop())
    }

    @Test func observation() {
        let lamp = Lamp()
        nonisolated(unsafe) var changes: [String] = []
        let observation = lamp.observe(\\.isOn, options: [.old, .new, .initial]) { lamp, change in
            changes.append("\\(change.oldValue.map(String.init) ?? "-")\\(change.newValue ?? lamp.isOn)")
        }
        var values: [Int?] = []
        let sink = lamp.publisher(for: \\.level).sink { values.append($0) }
        lamp.turn(true)
        lamp.level = 3
        lamp.level = nil
        observation.invalidate()
        sink.cancel()
        lamp.turn(false)
        lamp.level = 4
        #expect(changes == ["-false", "falsetrue"] && values == [nil, 3, nil])
        #expect(lamp.dimmed == 1)
    }

    @Test func heldObjects() {
        let room = Room()
        nonisolated(unsafe) var changes: [Bool?] = []
        let observation = room.watch { changes.append($0) }
        room.lamp?.turn(true)
        room.lamp = nil
        #expect(observation != nil && changes == [true] && room.watch { _ in } == nil)
    }

    @Test func managers() async {
        let world = World(seed: 5)
        let central = world.inhabit { CBCentralManager(delegate: nil, queue: .main) }
        nonisolated(unsafe) var states: [CBManagerState] = []
        let observation = central.observe(\\.state) { central, _ in states.append(central.state) }
        #expect(await world.advance(atMost: .seconds(5)) { states == [.poweredOn] })
        observation.invalidate()
    }

    @Test func description() { print("It is \\(Lamp())") }
}
""",
}
"""A package with words of Objective-C."""
