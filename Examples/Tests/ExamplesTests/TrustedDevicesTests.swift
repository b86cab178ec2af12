import BLESimulation
import CoreBluetooth
import Testing

@testable import TrustedDevices

@Suite("Trusted devices") @MainActor
struct TrustedDevicesTests {
    /// A phone that shows a code, and a badge where it is typed in.
    @MainActor
    struct Pair {
        let stage: Stage
        let reader: EmailReader
        let keeper: EmailKeeper
        let phone: PairingAlert
        let badge: PairingAlert

        init(seed: UInt64 = 1, loss: Double = 0) {
            let stage = Stage(seed: seed, loss: loss)
            (keeper, badge) = stage.start(on: "badge", distance: 2) {
                (EmailKeeper(email: "me@example.org"), PairingAlert(.keyboardOnly))
            }
            (reader, phone) = stage.start(on: "phone") { (EmailReader(), PairingAlert(.displayOnly)) }
            self.stage = stage
        }

        /// The code that the phone shows, as soon as the badge asks for it.
        func code() async throws -> String {
            await stage.wait(until: "both show an alert") { phone.code != nil && badge.wantsCode }
            return try #require(phone.code)
        }

        /// Types in the right code, and waits for what is worth it.
        func trust() async throws {
            badge.type(try await code())
            await stage.wait(until: "the email is read and subscribed to") {
                reader.emails == ["me@example.org"] && reader.isSubscribed
            }
        }
    }

    @Test(
        "A paired device can read an email and is notified of it after the user types the other device's passkey",
        arguments: seeds
    )
    func paired(seed: UInt64) async throws {
        let pair = Pair(seed: seed, loss: 0.1)
        let code = try await pair.code()
        #expect(code.count == 6 && pair.reader.emails.isEmpty)
        try await pair.trust()
        pair.keeper.change(to: "new@example.org")
        await pair.stage.wait(until: "the change is notified") { pair.reader.emails.last == "new@example.org" }
        #expect(pair.reader.errors.isEmpty && pair.phone.prompt == nil && pair.badge.prompt == nil)
    }

    @Test("After a wrong passkey everything is refused, and pairing can be tried again with the right one")
    func wrongCode() async throws {
        let pair = Pair()
        let code = try await pair.code()
        pair.badge.type(code == "123456" ? "654321" : "123456")
        await pair.stage.wait(until: "both requests are refused") { pair.reader.errors.count == 2 }
        for error in pair.reader.errors {
            #expect((error as? CBATTError)?.code == .insufficientAuthentication)
        }
        #expect(pair.reader.emails.isEmpty && !pair.reader.isSubscribed)

        // Nobody may try one code right after another.
        await pair.stage.world.advance(by: .seconds(2))
        pair.reader.ask()
        try await pair.trust()
    }

    @Test("When the user declines to pair, everything is refused")
    func cancelled() async throws {
        let pair = Pair()
        _ = try await pair.code()
        pair.phone.cancel()
        await pair.stage.wait(until: "the email is refused") { !pair.reader.errors.isEmpty }
        #expect((pair.reader.errors.first as? CBATTError)?.code == .insufficientAuthentication)
        #expect(pair.reader.emails.isEmpty)
    }

    @Test("When paired devices reconnect, no user is asked")
    func again() async throws {
        let pair = Pair()
        try await pair.trust()
        pair.reader.disconnect()
        await pair.stage.wait(until: "it disconnects") { !pair.reader.isConnected }
        pair.keeper.change(to: "new@example.org")
        pair.reader.connect()
        await pair.stage.wait(until: "the email is read again") {
            pair.reader.emails == ["me@example.org", "new@example.org"] && pair.reader.isSubscribed
        }
        #expect(pair.phone.count == 1 && pair.badge.count == 1 && pair.reader.errors.isEmpty)
    }

    @Test("A device that has lost its bond is not trusted until both devices have removed it")
    func forgotten() async throws {
        let pair = Pair()
        try await pair.trust()
        pair.badge.forgetDevices()
        await pair.stage.wait(until: "the connection ends") { !pair.reader.isConnected }
        pair.reader.connect()
        await pair.stage.wait(until: "the phone notices") {
            (pair.reader.errors.last as? CBError)?.code == .peerRemovedPairingInformation
        }
        #expect(pair.phone.count == 1)

        pair.phone.forgetDevices()
        pair.reader.connect()
        let code = try await pair.code()
        pair.badge.type(code)
        await pair.stage.wait(until: "the email is read again") { pair.reader.emails.count == 2 }
    }

    @Test("A central that has lost its bond pairs again if the user agrees")
    func newPhone() async throws {
        let pair = Pair()
        try await pair.trust()
        pair.phone.forgetDevices()
        await pair.stage.wait(until: "the connection ends") { !pair.reader.isConnected }
        pair.reader.connect()
        let code = try await pair.code()
        #expect(pair.reader.emails.count == 1)
        pair.badge.type(code)
        await pair.stage.wait(until: "the email is read again") { pair.reader.emails.count == 2 }
        #expect(pair.reader.errors.allSatisfy { $0 is CBError })
    }
}
