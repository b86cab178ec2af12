import Testing

@testable import BLEHost

/// Core 6.0, Vol 3, Part G, 2.5.2.1.
@Suite("Change awareness of a client")
struct ChangeAwarenessTests {
    enum Step {
        case change, confirm, confirmElsewhere, readHash
        case request(usesHandles: Bool, ChangeAwareness.OnRequest)
        case robustElsewhere(ChangeAwareness.OnRequest)
        case plain(ChangeAwareness.OnRequest)
    }

    @Test(
        "Change awareness follows the indications and requests of a client",
        arguments: [
            ([.request(usesHandles: true, .proceed)], true), ([.change], false),
            ([.change, .request(usesHandles: true, .refuse)], false),
            ([.change, .request(usesHandles: true, .refuse), .request(usesHandles: true, .proceed)], true),
            ([.change, .request(usesHandles: false, .proceed)], false),
            ([.change, .readHash, .request(usesHandles: true, .proceed)], true), ([.change, .readHash], false),
            ([.change, .readHash, .change, .request(usesHandles: true, .refuse)], false),
            ([.change, .confirm], true), ([.change, .confirmElsewhere], false),
            ([.change, .plain(.proceed)], false),
            ([.change, .robustElsewhere(.refuse), .robustElsewhere(.refuse)], false),
            ([.change, .robustElsewhere(.refuse), .readHash, .robustElsewhere(.proceed)], true),
        ] as [([Step], Bool)]
    )
    func steps(steps: [Step], isAware: Bool) {
        var awareness = ChangeAwareness()
        for step in steps {
            switch step {
            case .change: awareness.databaseChanged()
            case .confirm: awareness.confirmedChange()
            case .confirmElsewhere: awareness.confirmedChange(onOnlyBearer: false)
            case .readHash: awareness.readHash()
            case .request(let usesHandles, let expected):
                let event = awareness.receiveRequest(usesHandles: usesHandles, isRobust: true)
                #expect(event == expected)
            case .robustElsewhere(let expected):
                let event = awareness.receiveRequest(usesHandles: true, isRobust: true, onOnlyBearer: false)
                #expect(event == expected)
            case .plain(let expected):
                let event = awareness.receiveRequest(usesHandles: true, isRobust: false)
                #expect(event == expected)
            }
        }
        #expect(awareness.isAware == isAware)
    }
}
