import Testing

@testable import CoreBluetooth

@Suite("Send window")
struct SendWindowTests {
    @Test("closes with the value that fills it, and opens once, when half is taken")
    func course() {
        var window = SendWindow()
        for _ in 1..<SendWindow.size {
            window.submit()
            #expect(window.isOpen)
        }
        window.submit()
        #expect(!window.isOpen)
        #expect(window.taken(SendWindow.size / 2 - 1) == .nothing)
        #expect(!window.isOpen)
        #expect(window.taken(1) == .reopened(wasRefused: false))
        #expect(window.isOpen)
        #expect(window.taken(1) == .nothing)
        #expect(window.outstanding == SendWindow.size / 2 - 1)
    }

    @Test("counts what is sent although it is closed")
    func beyond() {
        var window = SendWindow()
        for _ in 0..<(SendWindow.size * 2) { window.submit() }
        #expect(window.taken(SendWindow.size) == .nothing)
        #expect(!window.isOpen)
        #expect(window.taken(SendWindow.size) == .reopened(wasRefused: false))
    }

    @Test("is not confused by more taken than was sent")
    func surplus() {
        var window = SendWindow()
        window.submit()
        #expect(window.taken(100) == .nothing)
        #expect(window.outstanding == 0)
        #expect(window.isOpen)
    }

    @Test("It tells those who were refused from those who did not ask")
    func refused() {
        var window = SendWindow()
        window.refuse()
        for _ in 0..<SendWindow.size { window.submit() }
        window.refuse()
        #expect(!window.isOpen)
        #expect(window.outstanding == SendWindow.size)
        #expect(window.taken(1) == .nothing)
        #expect(window.taken(SendWindow.size) == .reopened(wasRefused: true))
        for _ in 0..<SendWindow.size { window.submit() }
        #expect(window.taken(SendWindow.size) == .reopened(wasRefused: false))
    }
}
