@_exported public import Foundation

/// An object that can receive events of the user interface on Apple's systems.
@MainActor
open class UIResponder: NSObject {}

/// The part of UIKit's application that Bluetooth code uses.
///
/// A program on Linux is always active.
@MainActor
open class UIApplication: UIResponder {
    /// The state of the application.
    public enum State: Int, Sendable { case active, inactive, background }

    /// A key of the options of a launch.
    public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let bluetoothCentrals = LaunchOptionsKey(
            rawValue: "UIApplicationLaunchOptionsBluetoothCentralsKey"
        )
        public static let bluetoothPeripherals = LaunchOptionsKey(
            rawValue: "UIApplicationLaunchOptionsBluetoothPeripheralsKey"
        )
    }

    public static let shared = UIApplication()
    public nonisolated static let openSettingsURLString = "app-settings:"
    public nonisolated static let didBecomeActiveNotification = Notification.Name("UIApplicationDidBecomeActive")
    public nonisolated static let willResignActiveNotification = Notification.Name("UIApplicationWillResignActive")
    public nonisolated static let didEnterBackgroundNotification = Notification.Name("UIApplicationDidEnterBackground")
    public nonisolated static let willEnterForegroundNotification = Notification.Name(
        "UIApplicationWillEnterForeground"
    )
    public nonisolated static let willTerminateNotification = Notification.Name("UIApplicationWillTerminate")

    /// The state of the application: always active.
    public var applicationState: State { .active }
    /// A setting without effect.
    public var isIdleTimerDisabled = false

    /// Returns no identifier: a program on Linux is never suspended, so it needs no more time.
    public nonisolated func beginBackgroundTask(
        withName taskName: String? = nil,
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { .invalid }

    /// Has no effect.
    public nonisolated func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {}

    /// Returns false: Linux has no settings of an app to open.
    public func canOpenURL(_ url: URL) -> Bool { false }
}

/// The identifier of a task in the background.
public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}

/// The computer that the program runs on.
public final class UIDevice: NSObject, @unchecked Sendable {
    public static let current = UIDevice()
    /// The host name.
    public var name: String { ProcessInfo.processInfo.hostName }
    public var model: String { "Linux" }
    public var localizedModel: String { "Linux" }
    public var systemName: String { "Linux" }
    /// The version of the operating system.
    public var systemVersion: String { ProcessInfo.processInfo.operatingSystemVersionString }
    /// Always `nil`, as on a device before its first unlock.
    public var identifierForVendor: UUID? { nil }
}

/// Returns the seconds since the computer started.
public func CACurrentMediaTime() -> Double { ProcessInfo.processInfo.systemUptime }
