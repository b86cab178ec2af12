import BLESimulation

/// The faults of the machines and the air during a day, and their ends.
struct Weather {
    private enum Ending {
        case switchOn(Machine), plugIn(Machine), comeBack(Machine, World.Position), rejoin(Machine, Machine), clear
    }

    private let cast: Cast
    private var dice: Dice
    private var endings: [(due: Duration, ending: Ending)] = []
    private let usualLoss: Double

    init(_ cast: Cast, _ dice: Dice) {
        self.cast = cast
        self.dice = dice
        usualLoss = cast.world.conditions.loss
    }

    /// Causes a random fault that lasts from 200 ms to 20 s.
    mutating func change() {
        let machine = dice.chance(20) ? cast.phone : dice.pick(cast.others) ?? cast.phone
        let duration = Duration.milliseconds(dice.chance(50) ? dice.within(200...3_000) : dice.within(3_000...20_000))
        let ending: Ending
        switch dice.below(10) {
        case 0, 1:
            machine.switchBluetoothOff()
            ending = .switchOn(machine)
        case 2:
            machine.unplugRadio()
            ending = .plugIn(machine)
        case 3, 4:
            machine.move(to: .init(x: 5_000))
            ending = .comeBack(machine, .init(x: Double(dice.within(1...5)), y: Double(dice.within(1...5))))
        case 5, 6, 7:
            let other = dice.pick(cast.others.filter { $0.name != machine.name }) ?? cast.phone
            cast.world.separate(machine, other)
            cast.chronicle.expectTrouble(other.name, for: duration)
            ending = .rejoin(machine, other)
        default:
            cast.world.conditions = .init(loss: Double(dice.within(2...9)) / 10)
            for other in cast.others { cast.chronicle.expectTrouble(other.name, for: duration) }
            cast.chronicle.expectTrouble(cast.phone.name, for: duration)
            ending = .clear
        }
        cast.chronicle.expectTrouble(machine.name, for: duration)
        endings.append((cast.world.now + duration, ending))
    }

    /// Ends the faults whose time is over; all faults if `all`.
    mutating func settle(all: Bool = false) {
        let now = cast.world.now
        for (due, ending) in endings where all || due <= now { perform(ending) }
        endings.removeAll { all || $0.due <= now }
    }

    private func perform(_ ending: Ending) {
        switch ending {
        case .switchOn(let machine):
            machine.switchBluetoothOn()
            cast.chronicle.expectTrouble(machine.name, for: .zero)
        case .plugIn(let machine):
            machine.plugInRadio()
            cast.chronicle.expectTrouble(machine.name, for: .zero)
        case .comeBack(let machine, let position):
            machine.move(to: position)
            cast.chronicle.expectTrouble(machine.name, for: .zero)
        case .rejoin(let one, let other):
            cast.world.rejoin(one, other)
            cast.chronicle.expectTrouble(one.name, for: .zero)
            cast.chronicle.expectTrouble(other.name, for: .zero)
        case .clear: cast.world.conditions = .init(loss: usualLoss)
        }
    }
}
